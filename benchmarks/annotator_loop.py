"""Compare submit-and-next cycles per second with a bare Django view: python -m benchmarks.annotator_loop.

The bare view uses plain SQL; a variant with the ORM is measured, too. All get requests with the headers of a browser,
and compressed responses if they support it.

Both sites run under gunicorn with the same workers and threads against one PostgreSQL server with fsync on. They get
the same load from the same generator, one after the other. Everything shares the machine's cores. With several sizes,
`--questions 1000 100000`, answers per question, `--answers 1 3`, or kinds, `--kinds best_of_n describe`, each
combination has a database and a site of its own, and the last column compares it with the first. With `--pooled`, the
product has PgBouncer in front of its database, and the floor has not.
"""

import argparse
import io
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import django
import psycopg

from benchmarks.load import WARM_UP_SECONDS
from benchmarks.multiplying import multiply
from benchmarks.site import PRODUCTION, ROOT, Site, machine, percentile, serve
from tests.servers import Cluster, Pool, pgbouncer, postgresql_cluster

BARE = "benchmarks/floor/gunicorn.conf.py"
PLAIN, BY_ORM = "/plain/", "/answer/"
SURVEY_SIZE = 100
# Size of a study made by the platform's own commands; larger ones are multiples of it.
LAUNCHED = 1000
# Faster than anything measured so far, so that no run ends for lack of questions.
MOST_CYCLES_PER_SECOND = 1200
# Annotators who answer before the measurement.
SETTLERS = 8
DESIGN = """\
study: {slug}
title: Pick the image that fits the description
contact: Ada Lovelace, ada@example.org
kind: {kind}
ask: {ask}
answers: {answers}
surveys: {{size: {size}, double_seats: 0}}
seed: benchmark
time: {{estimated_minutes: 60, limit_minutes: 240}}
consent: ""
"""
ASKS = {"best_of_n": "{}", "describe": "{images: candidate, targets: 1}"}


@dataclass
class Figures:
    """Sum of the rounds of one row."""

    seconds: float = 0.0
    cycle_ms: list[float] = field(default_factory=list)
    errors: int = 0
    out_of_questions: bool = False

    @property
    def cycles_per_second(self) -> float:
        return (len(self.cycle_ms) - self.errors) / self.seconds

    def add(self, measured: Mapping[str, Any]) -> None:
        self.seconds += measured["seconds"]
        self.cycle_ms += measured["cycle_ms"]
        self.errors += measured["errors"]
        self.out_of_questions |= measured["out_of_questions"]


def entries_needed(*, questions: int, annotators: int, seconds: float) -> int:
    """Return how many sessions a round may need: all that it can answer, plus one per annotator."""
    size = min(SURVEY_SIZE, questions)
    return math.ceil(MOST_CYCLES_PER_SECOND * (seconds + WARM_UP_SECONDS) / size) + annotators


def make_studies(
    *, questions: int, answers: int, kind: str, entries: int, folder: Path, environment: Mapping[str, str]
) -> list[str]:
    """Create studies of `questions` questions, with surveys of 100, in a database.

    Uses the platform's own commands; a study of thousands is a multiplied study of one thousand. Returns at least
    `entries` places: the name of each study once per place.
    """
    os.environ.update(environment)
    django.setup()
    from django.core.management import call_command

    from studies.models import Project

    call_command("migrate", verbosity=0)
    project = Project.objects.create(slug="benchmark", name="Benchmark")
    copies = questions // LAUNCHED if questions % LAUNCHED == 0 else 1
    make_instances(project.pk, questions // copies)
    size = min(SURVEY_SIZE, questions)
    seats = questions // size * answers
    made: list[str] = []
    while len(made) < entries:
        slug = f"annotator-loop-{len(made) // seats + 1}"
        file = folder / f"{slug}.yaml"
        design = DESIGN.format(slug=slug, size=size, kind=kind, ask=ASKS[kind], answers=answers)
        file.write_text(design, encoding="utf-8")
        call_command("create_study", str(file), project="benchmark", stdout=io.StringIO())
        call_command("launch_study", slug, stdout=io.StringIO())
        if not made and copies > 1:
            multiply(environment["DATABASE_URL"], copies)
        made += [slug] * seats
    return made


def make_instances(project: int, count: int) -> None:
    from studies.models import Image, Instance, InstanceImage

    images = [
        Image(sha256=f"{number:064x}", width=512, height=512, format="JPEG", byte_size=80_000) for number in range(400)
    ]
    Image.objects.bulk_create(images)
    captions = {"caption": "A red ball left of a house.", "negative_caption": "A house to the left of a red ball."}
    instances = Instance.objects.bulk_create(
        (
            Instance(
                project_id=project,
                key=str(number),
                captions=captions,
                original_captions=captions,
                caption_rule="as-is-v1",
                source_file="benchmark",
                source_row=number + 1,
            )
            for number in range(count)
        ),
        batch_size=5000,
    )
    InstanceImage.objects.bulk_create(
        (
            InstanceImage(
                instance=instance,
                role="candidate",
                position=position,
                filename=f"{position}.jpg",
                image=images[(number * 4 + position) % len(images)],
            )
            for number, instance in enumerate(instances)
            for position in range(4)
        ),
        batch_size=5000,
    )


def load(
    site: Site, *, annotators: int, seconds: float, entries: Sequence[str] = (), floor: str = PLAIN, kind: str = ""
) -> dict[str, Any]:
    """Run the load generator against a site once and return its measurements."""
    task: dict[str, Any] = {"port": site.port, "annotators": annotators, "seconds": seconds}
    task |= {"entries": entries, "kind": kind, "floor": floor}
    finished = subprocess.run(
        [sys.executable, "-m", "benchmarks.load"],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        timeout=seconds + 300,
        cwd=ROOT,
    )
    if finished.returncode:
        raise SystemExit(f"The load generator failed:\n{finished.stderr}")
    measured: dict[str, Any] = json.loads(finished.stdout)
    return measured


HEADINGS = "annotators  site                    cycles/s   p50 ms   p95 ms  errors  of floor  of ORM  p95 of floor"


def _row(annotators: int, name: str, figures: Figures, floor: Figures, orm: Figures) -> str:
    ratio = figures.cycles_per_second / floor.cycles_per_second
    of_orm = figures.cycles_per_second / orm.cycles_per_second
    p50, p95 = percentile(figures.cycle_ms, 0.5), percentile(figures.cycle_ms, 0.95)
    slower = p95 / percentile(floor.cycle_ms, 0.95)
    short = "  RAN OUT OF QUESTIONS" if figures.out_of_questions else ""
    return (
        f"{annotators:>10}  {name:<22}{figures.cycles_per_second:>10.0f}{p50:>9.1f}{p95:>9.1f}"
        f"{figures.errors:>8}{ratio:>10.2f}{of_orm:>8.2f}{slower:>14.2f}{short}"
    )


def _check_answers(url: str) -> str:
    """Return in words whether the database has exactly the acknowledged answers."""
    beyond = """
        SELECT count(*) FROM (
            SELECT question_id FROM annotation_response r JOIN studies_question q ON q.id = r.question_id
            WHERE r.is_current GROUP BY question_id, answers_wanted HAVING count(*) > answers_wanted
        ) AS over
    """
    with psycopg.connect(url) as connection:
        stored = connection.execute("SELECT count(*) FROM annotation_response").fetchone()
        over = connection.execute(beyond).fetchone()
    assert stored is not None
    assert over is not None
    return f"{stored[0]} answers stored; questions with more answers than wanted: {over[0]}"


@dataclass
class Product:
    """The platform with studies of `questions` questions; `entries` are the sessions that are left."""

    questions: int
    answers: int
    kind: str
    environment: Mapping[str, str]
    entries: list[str]

    @property
    def name(self) -> str:
        return f"{self.kind}, {self.questions:,} x {self.answers}"

    @property
    def database(self) -> str:
        return f"product_{self.kind}_{self.questions}_{self.answers}"

    def round(self, site: Site, *, annotators: int, seconds: float) -> dict[str, Any]:
        wanted = entries_needed(questions=self.questions, annotators=annotators, seconds=seconds)
        taken, self.entries = self.entries[:wanted], self.entries[wanted:]
        return load(site, annotators=annotators, seconds=seconds, entries=taken, kind=self.kind)


def _prepare(
    cluster: Cluster, folder: str, questions: int, answers: int, kind: str, options: argparse.Namespace
) -> Product:
    environment = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": cluster.url(f"product_{kind}_{questions}_{answers}"),
        "DATA_DIR": folder,
        "STATIC_WITHOUT_COLLECT": "1",
        "STATIC_ROOT": folder,
        "LOG_LEVEL": "WARNING",
    }
    rounds = [SETTLERS, *options.annotators * options.rounds]
    entries = sum(entries_needed(questions=questions, annotators=count, seconds=options.seconds) for count in rounds)
    # In its own process: Django reads only once which database to use.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        made = apart.submit(
            make_studies,
            questions=questions,
            answers=answers,
            kind=kind,
            entries=entries,
            folder=Path(folder),
            environment=environment,
        ).result()
    return Product(questions, answers, kind, environment, made)


def _prepare_floor(cluster: Cluster, options: argparse.Namespace) -> dict[str, str]:
    environment = {"DATABASE_URL": cluster.url("floor")}
    # Both variants claim the same slots.
    rounds = options.rounds * len(options.annotators) + 1
    slots = 2 * int(MOST_CYCLES_PER_SECOND * (options.seconds + 2) * rounds)
    prepare = [sys.executable, "-m", "benchmarks.floor.prepare", str(options.questions[0]), str(slots)]
    subprocess.run(prepare, check=True, cwd=ROOT, env={**os.environ, **environment})
    return environment


@contextmanager
def _all_served(
    products: Sequence[Product], floor: Mapping[str, str], shape: Mapping[str, int], pool: Pool | None
) -> Iterator[tuple[Site, list[Site]]]:
    def environment(product: Product) -> Mapping[str, str]:
        if pool is None:
            return product.environment
        return {**product.environment, "DATABASE_URL": pool.url(product.database), "DATABASE_POOLED": "1"}

    with ExitStack() as stack:
        bare = stack.enter_context(serve("benchmarks.floor.wsgi", environment=floor, configuration=BARE, **shape))
        yield (
            bare,
            [
                stack.enter_context(
                    serve("config.wsgi", environment=environment(each), configuration=PRODUCTION, **shape)
                )
                for each in products
            ],
        )


def _settle(
    products: Sequence[Product], floor: Mapping[str, str], bare: Site, sites: Sequence[Site], seconds: float
) -> None:
    """Let all sites have some answers, and PostgreSQL count them, as it does by itself within a minute.

    Where statements were first planned for empty tables, they are slow for that minute.
    """
    for which in (PLAIN, BY_ORM):
        load(bare, annotators=SETTLERS, seconds=seconds, floor=which)
    for each, site in zip(products, sites, strict=True):
        each.round(site, annotators=SETTLERS, seconds=seconds)
    for url in (floor["DATABASE_URL"], *(each.environment["DATABASE_URL"] for each in products)):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")


def _measure(products: Sequence[Product], bare: Site, sites: Sequence[Site], options: argparse.Namespace) -> bool:
    """Print a row per site and number of annotators; return whether any ran out of questions."""
    short = False
    for count in options.annotators:
        print(f"load of the machine: {os.getloadavg()[0]:.1f}")
        floor, orm, figures = Figures(), Figures(), [Figures() for _ in products]
        for _ in range(options.rounds):
            floor.add(load(bare, annotators=count, seconds=options.seconds))
            orm.add(load(bare, annotators=count, seconds=options.seconds, floor=BY_ORM))
            for each, site, found in zip(products, sites, figures, strict=True):
                found.add(each.round(site, annotators=count, seconds=options.seconds))
        print(_row(count, "floor, plain SQL", floor, floor, orm), flush=True)
        print(_row(count, "floor, Django's ORM", orm, floor, orm), flush=True)
        for each, found in zip(products, figures, strict=True):
            growth = found.cycles_per_second / figures[0].cycles_per_second
            beside = f"  {growth:.2f} of {products[0].name}" if each is not products[0] else ""
            print(_row(count, each.name, found, floor, orm) + beside, flush=True)
            short |= found.out_of_questions
    return short


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, nargs="+", default=[1000], help="open questions in a study")
    parser.add_argument("--answers", type=int, nargs="+", default=[1], help="answers that each question wants")
    parser.add_argument("--kinds", nargs="+", default=["best_of_n"], choices=ASKS, help="kinds of question")
    parser.add_argument("--annotators", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--seconds", type=float, default=3.0, help="measured per round (default 3)")
    # In turns, so that other load on the machine affects both.
    parser.add_argument("--rounds", type=int, default=3, help="rounds of floor and product by turns (default 3)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--pooled", action="store_true", help="serve the product through PgBouncer")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    with tempfile.TemporaryDirectory(prefix="lineup-bench-") as folder, postgresql_cluster(durable=True) as cluster:
        products = [
            _prepare(cluster, folder, *shape, options)
            for shape in product(options.questions, options.answers, options.kinds)
        ]
        floor = _prepare_floor(cluster, options)
        print(machine())
        print(
            f"PostgreSQL with fsync; gunicorn with {options.workers} workers x {options.threads} threads, keep-alive;"
        )
        print(f"surveys of up to {SURVEY_SIZE} questions;")
        print(
            f"{options.rounds} rounds of {options.seconds:g} s, by turns, each after {WARM_UP_SECONDS:g} s warming up"
        )
        print(HEADINGS)
        shape = {"workers": options.workers, "threads": options.threads}
        with ExitStack() as stack:
            pool = stack.enter_context(pgbouncer(cluster)) if options.pooled else None
            bare, sites = stack.enter_context(_all_served(products, floor, shape, pool))
            _settle(products, floor, bare, sites, options.seconds)
            short = _measure(products, bare, sites, options)
            print(f"memory of the largest web worker: {max(site.worker_megabytes() for site in sites):.0f} MB")
        for each in products:
            print(f"{each.name}: {_check_answers(each.environment['DATABASE_URL'])}")
    if short:
        raise SystemExit(
            "Some annotators ran out of questions before a round ended: the figures of their rows are too low. "
            "Raise MOST_CYCLES_PER_SECOND in benchmarks/annotator_loop.py."
        )


if __name__ == "__main__":
    main()

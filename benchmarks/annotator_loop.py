"""Submit-and-next cycles per second beside a bare Django view, in one run: python -m benchmarks.annotator_loop.

Both sites run under gunicorn with the same workers and threads against one PostgreSQL server with fsync on, and get
the same load from the same generator, one after the other. Everything shares the machine's cores.
"""

import argparse
import io
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import django
import psycopg

from benchmarks.site import PRODUCTION, ROOT, Site, machine, percentile, served
from tests.servers import postgresql_cluster

BARE = "benchmarks/floor/gunicorn.conf.py"
SURVEY_SIZE = 100
# Faster than anything measured so far, so that no run ends for lack of questions.
MOST_CYCLES_PER_SECOND = 1200
DESIGN = """\
study: {slug}
title: Pick the image that fits the description
kind: best_of_n
answers: 1
surveys: {{size: {size}, double_seats: 0}}
seed: benchmark
time: {{estimated_minutes: 60, limit_minutes: 240}}
consent: ""
"""


@dataclass
class Figures:
    """What the rounds of one row measured together."""

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


def places_needed(annotators: int, seconds: float) -> int:
    """Return how many sittings a row may use up: a whole number for each annotator."""
    return annotators * math.ceil(MOST_CYCLES_PER_SECOND * (seconds + 1) / annotators / SURVEY_SIZE)


def make_studies(*, questions: int, places: int, folder: Path) -> list[str]:
    """Make studies of `questions` questions, surveys of 100 and one answer each, through the platform's own commands.

    Returns at least `places` places: the name of each study as often as it has seats.
    """
    django.setup()
    from django.core.management import call_command

    from studies.models import Project

    call_command("migrate", verbosity=0)
    project = Project.objects.create(slug="benchmark", name="Benchmark")
    _make_instances(project.pk, questions)
    size = min(SURVEY_SIZE, questions)
    seats = questions // size
    made: list[str] = []
    while len(made) < places:
        slug = f"annotator-loop-{len(made) // seats + 1}"
        file = folder / f"{slug}.yaml"
        file.write_text(DESIGN.format(slug=slug, size=size), encoding="utf-8")
        call_command("create_study", str(file), project="benchmark", stdout=io.StringIO())
        call_command("launch_study", slug, stdout=io.StringIO())
        made += [slug] * seats
    return made


def _make_instances(project: int, count: int) -> None:
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


def load(site: Site, *, annotators: int, seconds: float, places: Sequence[str] = ()) -> dict[str, Any]:
    """Run the generator against a site once and return what it measured."""
    task = {"port": site.port, "annotators": annotators, "seconds": seconds, "places": places}
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


def _row(annotators: int, name: str, figures: Figures, floor: Figures) -> str:
    ratio = figures.cycles_per_second / floor.cycles_per_second
    p50, p95 = percentile(figures.cycle_ms, 0.5), percentile(figures.cycle_ms, 0.95)
    slower = p95 / percentile(floor.cycle_ms, 0.95)
    short = " (ran out of questions)" if figures.out_of_questions else ""
    return (
        f"{annotators:>10}  {name:<8}{figures.cycles_per_second:>10.0f}{p50:>9.1f}{p95:>9.1f}"
        f"{figures.errors:>8}{ratio:>11.2f}{slower:>11.2f}{short}"
    )


def _check_answers(url: str) -> str:
    """Return in words whether the database holds exactly what was acknowledged, and no answer beyond those wanted."""
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


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--annotators", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--seconds", type=float, default=3.0, help="measured per round (default 3)")
    # By turns, so that what else the machine does meanwhile falls on both.
    parser.add_argument("--rounds", type=int, default=3, help="rounds of floor and product by turns (default 3)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=4)
    options = parser.parse_args(arguments)
    needed = [places_needed(count, options.seconds) for count in options.annotators]
    slots = int(MOST_CYCLES_PER_SECOND * (options.seconds + 2) * options.rounds * len(options.annotators))
    with tempfile.TemporaryDirectory(prefix="lineup-bench-") as folder, postgresql_cluster(durable=True) as cluster:
        product = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": cluster.url("product"),
            "DATA_DIR": folder,
            "STATIC_WITHOUT_COLLECT": "1",
            "STATIC_ROOT": folder,
            "LOG_LEVEL": "WARNING",
        }
        floor = {"DATABASE_URL": cluster.url("floor")}
        os.environ.update(product)
        places = make_studies(questions=options.questions, places=sum(needed) * options.rounds, folder=Path(folder))
        prepare = [sys.executable, "-m", "benchmarks.floor.prepare", str(options.questions), str(slots)]
        subprocess.run(prepare, check=True, cwd=ROOT, env={**os.environ, **floor})
        for database in ("product", "floor"):
            with psycopg.connect(cluster.url(database), autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
        print(machine())
        print(
            f"PostgreSQL with fsync; gunicorn with {options.workers} workers x {options.threads} threads, keep-alive;"
        )
        print(f"{options.questions} questions in a study, {len(places)} sittings of up to {SURVEY_SIZE};")
        print(f"{options.rounds} rounds of {options.seconds:g} s, by turns, each after 1 s of warming up")
        shape = {"workers": options.workers, "threads": options.threads}
        print("annotators  site      cycles/s   p50 ms   p95 ms  errors  of floor  p95 of floor")
        with (
            served("benchmarks.floor.wsgi", environment=floor, configuration=BARE, **shape) as bare,
            served("config.wsgi", environment=product, configuration=PRODUCTION, **shape) as site,
        ):
            for count, wanted in zip(options.annotators, needed, strict=True):
                beside, figures = Figures(), Figures()
                for _ in range(options.rounds):
                    beside.add(load(bare, annotators=count, seconds=options.seconds))
                    figures.add(load(site, annotators=count, seconds=options.seconds, places=places[:wanted]))
                    del places[:wanted]
                print(_row(count, "floor", beside, beside), flush=True)
                print(_row(count, "product", figures, beside), flush=True)
            print(f"memory of the largest web worker: {site.worker_megabytes():.0f} MB")
        print(_check_answers(cluster.url("product")))


if __name__ == "__main__":
    main()

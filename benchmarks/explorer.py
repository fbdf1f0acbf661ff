"""Time the pages of a project with 100,000 instances, its list with every filter: python -m benchmarks.explorer.

A study of `best_of_n` with three answers a question is launched by the platform's own commands, then multiplied and
answered directly in a PostgreSQL database. A few tags, reports, three splits and the predictions of two models are
added: one model answered four questions about every instance, the other about one in fifty. The rows are then copied
into SQLite, so that both databases have the same. The statistics behind filters are computed before, as by the
background worker, and timed. Pages are requested one after the other under gunicorn, signed in. The goal is 0.3 s at
p95.
"""

import argparse
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import django
import psycopg
from psycopg import sql

from benchmarks.multiplying import without_indexes
from benchmarks.results_pages import make_study, sign_in, time_page
from benchmarks.site import PRODUCTION, machine, percentile, serve
from tests.servers import postgresql_cluster

T = TypeVar("T")
LIST = "/projects/benchmark/instances/"
STUDY = "results-pages"
ANSWERS = 3
GOAL_SECONDS = 0.3
PAGES = {
    "home": "/",
    "project overview": "/projects/benchmark/",
    "one instance": f"{LIST}by-id/{{late}}/",
    "one instance, of a filter": f"{LIST}by-id/{{late}}/?study={STUDY}&state=accepted",
    "search": "/search/?q=red+ball",
    "search for a key": "/search/?q=12345",
    "people": "/projects/benchmark/people/",
    "models": "/projects/benchmark/models/",
    "releases": "/projects/benchmark/releases/",
    "activity": "/projects/benchmark/events/",
    "results of the project": "/projects/benchmark/results/",
    "study overview": f"/studies/benchmark/{STUDY}/",
    "annotators of a study": f"/studies/benchmark/{STUDY}/annotators/",
    "disagreements of a study": f"/studies/benchmark/{STUDY}/disagreements/",
    "questions of a study": f"/studies/benchmark/{STUDY}/questions/",
    "results of a study": f"/studies/benchmark/{STUDY}/results/",
    "flagged sessions": "/projects/benchmark/flags/",
    "people and models": "/projects/benchmark/people-and-models/",
    "select all, to tag": "/projects/benchmark/chosen/tag/?which=all",
}
BROWSER = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36",
}
# {late} is an instance near the end, {person} answered 400 questions.
QUERIES = {
    "everything": "",
    "everything, near its end": "after={late}",
    "table": "look=table",
    "a type": "type=swap",
    "type, subtype and split": "type=swap&subtype=att&split=val",
    "a caption word that all have": "words=red+ball",
    "a caption word that none has": "words=unicorn",
    "a key": "words=12345",
    "a tag": "tag=look+again",
    "a tag of a type, words": "tag=look+again&type=add&words=ball",
    "all images present": "images=there",
    "some images missing": "images=awaited",
    "of the study": f"study={STUDY}",
    "accepted": f"study={STUDY}&state=accepted",
    "accepted, near its end": f"study={STUDY}&state=accepted&after={{late}}",
    "conflicting": f"study={STUDY}&state=conflicting",
    "conflicting, anywhere": "state=conflicting",
    "with an open question": "question=open",
    "disagreement, by time": f"study={STUDY}&alike=some&order=longest",
    "least agreement first": f"study={STUDY}&order=least-alike",
    "least agreement, near its end": f"study={STUDY}&order=least-alike&after={{late}}",
    "slow, of a type, by key": f"study={STUDY}&longer=5&type=add&order=key",
    "reported as broken": "reason=broken",
    "people right, models wrong": "parted=people",
    "not asked about": "state=not-asked",
    "not asked about by the study": f"without={STUDY}",
    "lost": "state=lost",
    "lost in the study": f"study={STUDY}&state=lost",
    "complete as a whole": f"study={STUDY}&progress=complete",
    "with an answered question": "question=answered",
    "with one, of a study": f"study={STUDY}&question=answered",
    "answered by two or more": f"study={STUDY}&question=several",
    "answered by somebody": "person={person}",
    "by somebody, in a study": f"study={STUDY}&person={{person}}",
    "of a survey": f"study={STUDY}&survey=7",
    "by a model, of all": "model=Thorough",
    "by a model, near its end": "model=Thorough&after={late}",
    "by a model, accepted, by key": f"model=Thorough&study={STUDY}&state=accepted&order=key",
    "by a model, of one in fifty": "model=Hasty",
}


def prepare(
    *, instances: int, folder: Path, environment: Mapping[str, str], open_surveys: int = 0
) -> tuple[int, dict[str, float], str]:
    """Fill the database; return the number of answers, the seconds per statistics, and an annotator's pseudonym."""
    stored = make_study(
        responses=instances * ANSWERS, folder=folder, environment=environment, open_surveys=open_surveys
    )
    with psycopg.connect(environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(
            "INSERT INTO studies_tag (project_id, name) SELECT id, 'look again' FROM studies_project LIMIT 1"
        )
        connection.execute(
            "INSERT INTO studies_tag_instances (tag_id, instance_id) "
            "SELECT tag.id, instance.id FROM studies_tag tag, studies_instance instance WHERE instance.id % 50 = 0"
        )
        connection.execute(
            "INSERT INTO annotation_report "
            "(study_id, question_id, session_id, annotator_id, reason, words, at, instead_of_answer) "
            "SELECT study_id, question_id, session_id, annotator_id, 'broken', '', received_at, false "
            "FROM annotation_response WHERE id % 1000 = 0"
        )
        connection.execute(
            "INSERT INTO annotation_sessionflag (session_id, rule, version, evidence, found_at, verdict, note) "
            "SELECT id, 'too_fast', 1, '{}', ended_at, '', '' FROM annotation_session WHERE id % 100 = 0"
        )
        connection.execute(
            "INSERT INTO predictions_model (project_id, name, version, weights, created_at) "
            "SELECT id, unnest(ARRAY['Thorough', 'Hasty']), '', '', now() FROM studies_project LIMIT 2"
        )
        with without_indexes(environment["DATABASE_URL"], ["predictions_prediction"]):
            connection.execute(
                "INSERT INTO predictions_prediction "
                "(model_id, instance_id, kind, variant, caption_rule, is_right, source_file, source_row, created_at) "
                "SELECT model.id, instance.id, kind, variant, instance.caption_rule, true, '', 1, now() "
                "FROM predictions_model model, studies_instance instance, "
                "unnest(ARRAY['image_to_text', 'text_to_image']) kind, "
                "unnest(ARRAY['image', 'negative_image']) variant "
                "WHERE model.name = 'Thorough' OR instance.id % 50 = 0"
            )
        connection.execute("VACUUM ANALYZE")
        seconds, person = count_figures(), pick_annotator()
        connection.execute("VACUUM ANALYZE")
    return stored, seconds, person


def count_figures() -> dict[str, float]:
    """Compute the statistics of all pages as the background worker does; return the seconds of each."""
    from django.utils import timezone

    from results.actions.cached_statistics import make
    from results.models import KeptNumbers
    from studies.models import Project, Study

    project, study = Project.objects.get(), Study.objects.get()
    seconds = {}
    for page in KeptNumbers.Page:
        is_of_project = page == KeptNumbers.Page.INSTANCES or page.startswith("project")
        kept = KeptNumbers.objects.create(page=page, project=project, study=None if is_of_project else study)
        started = time.perf_counter()
        make(kept=kept, now=timezone.now())
        seconds[page.value] = time.perf_counter() - started
    return seconds


def count_queries(paths: Sequence[str], environment: Mapping[str, str]) -> list[int]:
    """Return the number of queries of each page."""
    os.environ.update(environment)
    django.setup()
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(User.objects.get(username="researcher"))
    counts = []
    for path in paths:
        with CaptureQueriesContext(connection) as queries:
            client.get(path)
        counts.append(len(queries))
    return counts


def pick_annotator() -> str:
    from results.actions.pseudonyms import name_annotators
    from results.models import Pseudonym
    from studies.models import Project

    name_annotators(project=Project.objects.get())
    return Pseudonym.objects.earliest("pk").name


def copy_to_sqlite(url: str, file: Path) -> None:
    """Copy every row of a PostgreSQL database into the existing, empty tables of an SQLite one."""
    with psycopg.connect(url) as source, closing(sqlite3.connect(file)) as target, target:
        target.execute("PRAGMA foreign_keys = OFF")
        # Constraints need Django's SQL functions, and the source database has checked them.
        target.execute("PRAGMA ignore_check_constraints = ON")
        names = target.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        for (table,) in names.fetchall():
            columns = [name for _, name, *_ in target.execute(f'PRAGMA table_info("{table}")')]
            target.execute(f'DELETE FROM "{table}"')  # noqa: S608 (the table's name is ours)
            read = sql.SQL("SELECT {} FROM {}").format(
                sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(table)
            )
            places = ", ".join("?" * len(columns))
            listed = ", ".join(f'"{name}"' for name in columns)
            with source.cursor(name="copied") as rows:
                rows.execute(read)
                target.executemany(
                    f'INSERT INTO "{table}" ({listed}) VALUES ({places})',  # noqa: S608 (the columns' names are ours)
                    ([_as_sqlite(value) for value in row] for row in rows),
                )
        target.execute("ANALYZE")


def _as_sqlite(value: Any) -> Any:
    """Return a value as Django stores it in SQLite."""
    match value:
        case dict() | list():
            return json.dumps(value)
        case datetime():
            return value.astimezone(UTC).replace(tzinfo=None).isoformat(" ")
        case UUID():
            return value.hex
        case Decimal():
            return str(value)
    return value


def measure(environment: Mapping[str, str], *, late: int, person: str, times: int) -> None:
    paths = {name: path.format(late=late) for name, path in PAGES.items()}
    paths |= {f"list: {name}": f"{LIST}?{query.format(late=late, person=person)}" for name, query in QUERIES.items()}
    queries = in_its_own_process(count_queries, list(paths.values()), environment)
    print(f"{'':<40}{'best s':>8}{'p50 s':>8}{'p95 s':>8}{'goal':>7}{'queries':>8}{'kB':>6}{'load':>6}", flush=True)
    with serve("config.wsgi", environment=environment, configuration=PRODUCTION, workers=2, threads=4) as site:
        client = sign_in(site)
        client.headers.update(BROWSER)
        for (name, path), count in zip(paths.items(), queries, strict=True):
            seconds, size = time_page(client, path, times)
            figures = (min(seconds), percentile(seconds, 0.5), percentile(seconds, 0.95))
            columns = "".join(f"{figure:>8.3f}" for figure in figures)
            load = os.getloadavg()[0]
            print(f"{name:<40}{columns}{GOAL_SECONDS:>7}{count:>8}{size / 1000:>6.0f}{load:>6.1f}", flush=True)


def in_its_own_process(function: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """Call `function` in a process of its own, because Django reads its settings once."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        return apart.submit(function, *arguments, **named).result()


def _migrate(environment: Mapping[str, str]) -> None:
    os.environ.update(environment)
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=100_000, help="number of instances (default 100000)")
    parser.add_argument("--times", type=int, default=20, help="requests per page (default 20)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="lineup-bench-") as name, postgresql_cluster(durable=True) as cluster:
        folder, url = Path(name), cluster.url("explorer")
        settings = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATA_DIR": name,
            "STATIC_WITHOUT_COLLECT": "1",
            "STATIC_ROOT": name,
            "LOG_LEVEL": "WARNING",
        }
        file = folder / "copied.sqlite3"
        on_postgresql, on_sqlite = settings | {"DATABASE_URL": url}, settings | {"DATABASE_URL": f"sqlite:///{file}"}
        stored, seconds, person = in_its_own_process(
            prepare, instances=options.instances, folder=folder, environment=on_postgresql
        )
        in_its_own_process(_migrate, on_sqlite)
        copy_to_sqlite(url, file)
        print(machine())
        print(
            f"{options.instances:,} instances, {stored:,} answers; "
            f"statistics computed in {seconds['instances']:.1f} s (PostgreSQL)"
        )
        late = options.instances - 100
        for database, environment in (("PostgreSQL", on_postgresql), ("SQLite", on_sqlite)):
            print(f"\n{database}; gunicorn with 2 workers x 4 threads, {options.times} requests each")
            measure(environment, late=late, person=person, times=options.times)


if __name__ == "__main__":
    main()

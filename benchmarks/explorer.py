"""Times filtered pages of 100,000 instances: python -m benchmarks.explorer.

A study of `best_of_n` with three answers a question is launched by the platform's own commands, multiplied and answered
straight in the database, on PostgreSQL, and its rows are then copied into SQLite, so that both hold the same. A few
tags, reports and three splits are put in between, and the predictions of two models: one answered four questions about
every instance, one about one in fifty. The figures that filters rest on are
counted beforehand, as the background worker does it, and how long that took is told. Pages are asked for one after the
other under gunicorn, signed in. The goal is 0.3 s at p95.
"""

import argparse
import json
import os
import sqlite3
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from uuid import UUID

import django
import psycopg
from psycopg import sql

from benchmarks.results_pages import make_study, sign_in, time_page
from benchmarks.site import PRODUCTION, machine, percentile, serve
from tests.servers import postgresql_cluster

LIST = "/projects/benchmark/instances/"
STUDY = "results-pages"
ANSWERS = 3
GOAL_SECONDS = 0.3
# Filters and order of the list; {late} is an instance near the end, {person} answered 400 questions.
QUERIES = {
    "everything": "",
    "everything, near its end": "after={late}",
    "table": "look=table",
    "a type": "type=swap",
    "type, subtype and split": "type=swap&subtype=att&split=val",
    "a caption (all say it)": "words=red+ball",
    "a caption (none says it)": "words=unicorn",
    "a key": "words=12345",
    "a tag": "tag=look+again",
    "accepted": f"study={STUDY}&state=accepted",
    "accepted, near its end": f"study={STUDY}&state=accepted&after={{late}}",
    "conflicting": f"study={STUDY}&state=conflicting",
    "conflicting, anywhere": "state=conflicting",
    "with an open question": "question=open",
    "not all alike, by time": f"study={STUDY}&alike=some&order=longest",
    "least alike first": f"study={STUDY}&order=least-alike",
    "least alike, near its end": f"study={STUDY}&order=least-alike&after={{late}}",
    "slow, of a type, by key": f"study={STUDY}&longer=5&type=add&order=key",
    "reported as broken": "reason=broken",
    "people right, models wrong": "parted=people",
    "not asked about": "state=not-asked",
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


def prepare(*, instances: int, folder: Path, environment: Mapping[str, str]) -> tuple[int, float, str]:
    """Fill the database; return the number of answers, the seconds of statistics, and an annotator's pseudonym."""
    stored = make_study(responses=instances * ANSWERS, folder=folder, environment=environment)
    with psycopg.connect(environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("UPDATE studies_instance SET split = (ARRAY['train', 'val', 'test'])[id % 3 + 1]")
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
            "INSERT INTO predictions_model (project_id, name, version, weights, created_at) "
            "SELECT id, unnest(ARRAY['Thorough', 'Hasty']), '', '', now() FROM studies_project LIMIT 2"
        )
        connection.execute(
            "INSERT INTO predictions_prediction "
            "(model_id, instance_id, kind, variant, caption_rule, is_right, source_file, source_row, created_at) "
            "SELECT model.id, instance.id, kind, variant, instance.caption_rule, true, '', 1, now() "
            "FROM predictions_model model, studies_instance instance, "
            "unnest(ARRAY['image_to_text', 'text_to_image']) kind, unnest(ARRAY['image', 'negative_image']) variant "
            "WHERE model.name = 'Thorough' OR instance.id % 50 = 0"
        )
        connection.execute("VACUUM ANALYZE")
        seconds, person = count_figures(), pick_annotator()
        # As the server does by itself within a minute.
        connection.execute("VACUUM ANALYZE")
    return stored, seconds, person


def count_figures() -> float:
    """Compute the statistics of the benchmark's project as the background worker does; return seconds."""
    from django.utils import timezone

    from results.actions.cached_statistics import made_at_once
    from results.models import KeptNumbers
    from studies.models import Project

    started = time.perf_counter()
    made_at_once(page=KeptNumbers.Page.INSTANCES, project=Project.objects.get(), now=timezone.now())
    return time.perf_counter() - started


def pick_annotator() -> str:
    from results.actions.pseudonyms import name_annotators
    from results.models import Pseudonym
    from studies.models import Project

    name_annotators(project=Project.objects.get())
    return Pseudonym.objects.earliest("pk").name


def copy_to_sqlite(url: str, file: Path) -> None:
    """Copy every row of a PostgreSQL database into the tables of a SQLite one, which are there and empty."""
    with psycopg.connect(url) as source, closing(sqlite3.connect(file)) as target, target:
        target.execute("PRAGMA foreign_keys = OFF")
        # Constraints need Django's SQL functions, and held in the source database.
        target.execute("PRAGMA ignore_check_constraints = ON")
        names = target.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        for (table,) in names.fetchall():
            columns = [name for _, name, *_ in target.execute(f'PRAGMA table_info("{table}")')]
            target.execute(f'DELETE FROM "{table}"')  # noqa: S608 (a table of ours)
            read = sql.SQL("SELECT {} FROM {}").format(
                sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(table)
            )
            places = ", ".join("?" * len(columns))
            listed = ", ".join(f'"{name}"' for name in columns)
            with source.cursor(name="copied") as rows:
                rows.execute(read)
                target.executemany(
                    f'INSERT INTO "{table}" ({listed}) VALUES ({places})',  # noqa: S608 (columns of ours)
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
    print(f"{'':<32}{'best s':>8}{'p50 s':>8}{'p95 s':>8}{'goal':>7}{'kB':>6}", flush=True)
    with serve("config.wsgi", environment=environment, configuration=PRODUCTION, workers=2, threads=4) as site:
        client = sign_in(site)
        for name, query in QUERIES.items():
            seconds, size = time_page(client, f"{LIST}?{query.format(late=late, person=person)}", times)
            figures = (min(seconds), percentile(seconds, 0.5), percentile(seconds, 0.95))
            columns = "".join(f"{figure:>8.3f}" for figure in figures)
            print(f"{name:<32}{columns}{GOAL_SECONDS:>7}{size / 1000:>6.0f}", flush=True)


def _migrate(environment: Mapping[str, str]) -> None:
    os.environ.update(environment)
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=100_000, help="how many there are (default 100000)")
    parser.add_argument("--times", type=int, default=20, help="how often each page is asked for (default 20)")
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
        # Each in its own process, with its own database.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as apart:
            made = apart.submit(prepare, instances=options.instances, folder=folder, environment=on_postgresql)
            stored, seconds, person = made.result()
            apart.submit(_migrate, on_sqlite).result()
        copy_to_sqlite(url, file)
        print(machine())
        print(f"{options.instances:,} instances, {stored:,} answers; figures counted in {seconds:.1f} s (PostgreSQL)")
        late = options.instances - 100
        for database, environment in (("PostgreSQL", on_postgresql), ("SQLite", on_sqlite)):
            print(f"\n{database}; gunicorn with 2 workers x 4 threads, {options.times} requests each")
            measure(environment, late=late, person=person, times=options.times)


if __name__ == "__main__":
    main()

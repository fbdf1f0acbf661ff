"""Compare a project with one of a tenth of its size: python -m benchmarks.growth [--instances 1000000].

A study of `best_of_n` with three answers a question, made as for `benchmarks.explorer`, in two PostgreSQL databases:
one with `--instances`, one with a tenth of them. Both sites run side by side and are asked in turns, so that other load
on the machine meets both. What a person waits for (pages, arriving, answering) should take as long in both: the last
column is large / small. Jobs (counting statistics, exports, a release, a report) should take at most ten times as long,
with the same memory.

Rows are what PostgreSQL read for all queries of a page, as EXPLAIN counts them. Of a page that reads more rows of the
larger project than of the smaller one, or takes longer, the tables are named.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import django

from benchmarks.explorer import BROWSER, LIST, PAGES, QUERIES, in_its_own_process, prepare
from benchmarks.exports import manage
from benchmarks.load import Connection, LoadSession
from benchmarks.results_pages import STUDY, sign_in, time_page
from benchmarks.site import PRODUCTION, Site, machine, percentile, serve
from tests.servers import Cluster, postgresql_cluster

TIMES_LARGER = 10
# Surveys of 100 questions that nobody has begun, for those who arrive.
OPEN_SURVEYS = 30
ARRIVALS, ANSWERS_EACH = 20, 20
# More is no chance.
MOST_TIMES_AS_LONG, MOST_TIMES_AS_MANY = 2.0, 1.5
MOST_TABLES = 3
JOBS = {
    "export of responses": ("export", "benchmark", "--format", "responses", "--out", "{out}/responses"),
    "export of instances, jsonl": ("export", "benchmark", "--format", "jsonl", "--out", "{out}/jsonl"),
    "release, without images": ("release", "benchmark", "--study", STUDY, "--name", "all", "--out", "{out}/release"),
    "report": ("report", "benchmark", "--out", "{out}/report"),
}


class Made(NamedTuple):
    """A filled database and what is asked of it; `counted` is the seconds spent on each statistics."""

    instances: int
    answers: int
    counted: Mapping[str, float]
    environment: Mapping[str, str]
    paths: Mapping[str, str]


def make(cluster: Cluster, folder: Path, instances: int) -> Made:
    name = f"growth_{instances}"
    (folder / name).mkdir()
    environment = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": cluster.url(name),
        "DATA_DIR": str(folder / name),
        "STATIC_WITHOUT_COLLECT": "1",
        "STATIC_ROOT": str(folder),
        "LOG_LEVEL": "WARNING",
    }
    stored, seconds, person = in_its_own_process(
        prepare, instances=instances, folder=folder / name, environment=environment, open_surveys=OPEN_SURVEYS
    )
    late = instances - 100
    paths = {page: path.format(late=late) for page, path in PAGES.items()}
    paths |= {f"list: {what}": f"{LIST}?{query.format(late=late, person=person)}" for what, query in QUERIES.items()}
    return Made(instances, stored, seconds, environment, paths)


def count_rows(paths: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, Counter[str]]:
    """Return page -> table -> number of rows that its SELECTs read."""
    os.environ.update(environment)
    django.setup()
    from django.contrib.auth.models import User
    from django.test import Client

    from tests.plans import rows_read

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(User.objects.get(username="researcher"))
    return {name: rows_read(partial(client.get, path), analyse=False) for name, path in paths.items()}


def compare_pages(small: Made, large: Made, sites: Sequence[Site], times: int) -> None:
    rows = [in_its_own_process(count_rows, made.paths, made.environment) for made in (small, large)]
    clients = [sign_in(site) for site in sites]
    for client in clients:
        client.headers.update(BROWSER)
    print(f"\n{'page, p50 s':<40}{'small':>9}{'large':>9}{'ratio':>7}{'rows':>9}{'rows':>9}{'ratio':>7}", flush=True)
    for name in small.paths:
        seconds: list[list[float]] = [[], []]
        for _ in range(times):
            for made, client, taken in zip((small, large), clients, seconds, strict=True):
                taken += time_page(client, made.paths[name], 1)[0]
        few, many = (percentile(taken, 0.5) for taken in seconds)
        read_few, read_many = (max(read[name].total(), 1) for read in rows)
        grows = many / few > MOST_TIMES_AS_LONG or read_many / read_few > MOST_TIMES_AS_MANY
        most = ", ".join(f"{table} {number:,}" for table, number in rows[1][name].most_common(MOST_TABLES))
        print(
            f"{name:<40}{few:>9.3f}{many:>9.3f}{many / few:>7.1f}{read_few:>9,}{read_many:>9,}"
            f"{read_many / read_few:>7.1f}{f'  {most}' if grows else ''}",
            flush=True,
        )


def compare_annotators(sites: Sequence[Site]) -> None:
    arrivals, answers = asyncio.run(_annotate_in_turns(sites))
    for name, seconds in (("arriving, with the first page", arrivals), ("an answer", answers)):
        few, many = (percentile(taken, 0.5) for taken in seconds)
        print(f"{name:<40}{few:>9.4f}{many:>9.4f}{many / few:>7.1f}", flush=True)


async def _annotate_in_turns(sites: Sequence[Site]) -> tuple[list[list[float]], list[list[float]]]:
    """Return the seconds of each arrival and of each answer, by site."""
    connections = [Connection(site.port) for site in sites]
    arrivals: list[list[float]] = [[] for _ in sites]
    answers: list[list[float]] = [[] for _ in sites]
    for _ in range(ARRIVALS):
        sessions = [LoadSession(STUDY) for _ in sites]
        for session, connection, taken in zip(sessions, connections, arrivals, strict=True):
            started = time.perf_counter()
            await session.begin(connection)
            taken.append(time.perf_counter() - started)
        for _ in range(ANSWERS_EACH):
            for session, connection, taken in zip(sessions, connections, answers, strict=True):
                started = time.perf_counter()
                if not await session.answer(connection):
                    raise SystemExit("An answer was not stored.")
                taken.append(time.perf_counter() - started)
    return arrivals, answers


def compare_jobs(small: Made, large: Made, folder: Path) -> None:
    print(f"\n{'job, s':<40}{'small':>9}{'large':>9}{'ratio':>7}{'MB':>9}{'MB':>9}", flush=True)
    for name, few in small.counted.items():
        many = large.counted[name]
        print(f"{f'statistics: {name}':<40}{few:>9.1f}{many:>9.1f}{many / few:>7.1f}", flush=True)
    for name, arguments in JOBS.items():
        found = []
        for made in (small, large):
            with tempfile.TemporaryDirectory(dir=folder) as out:
                found.append(manage(made.environment, *(argument.format(out=out) for argument in arguments)))
        smaller, larger = found
        print(
            f"{name:<40}{smaller.seconds:>9.1f}{larger.seconds:>9.1f}{larger.seconds / smaller.seconds:>7.1f}"
            f"{smaller.megabytes:>9.0f}{larger.megabytes:>9.0f}",
            flush=True,
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1_000_000, help="size of the larger one (default 1000000)")
    parser.add_argument("--times", type=int, default=5, help="requests per page (default 5)")
    parser.add_argument("--folder", type=Path, help="where to work; a new temporary folder if not given")
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="lineup-bench-", dir=options.folder) as name,
        postgresql_cluster(durable=True, settings=("shared_buffers=2GB", "max_wal_size=8GB")) as cluster,
        ExitStack() as running,
    ):
        folder = Path(name)
        print(machine(), flush=True)
        small, large = (make(cluster, folder, options.instances // share) for share in (TIMES_LARGER, 1))
        for made in (small, large):
            started = time.strftime("%H:%M:%S")
            print(f"{started} {made.instances:,} instances, {made.answers:,} answers", flush=True)
        sites = [
            running.enter_context(
                serve("config.wsgi", environment=made.environment, configuration=PRODUCTION, workers=1, threads=2)
            )
            for made in (small, large)
        ]
        compare_pages(small, large, sites, options.times)
        compare_annotators(sites)
        compare_jobs(small, large, folder)


if __name__ == "__main__":
    main()

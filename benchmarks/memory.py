"""Send 50,000 requests to one gunicorn worker and print its memory: python -m benchmarks.memory [--requests 50000].

A study of `best_of_n` in PostgreSQL, made as for `benchmarks.explorer`. Annotators arrive and answer; after every five
of their requests a researcher opens a page or a list of instances. A worker that leaks grows with each line printed;
the first lines also load what a process reads once.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Coroutine, Iterator, Sequence
from itertools import cycle
from pathlib import Path

import httpx

from benchmarks.explorer import ANSWERS, BROWSER, LIST, PAGES, QUERIES, in_its_own_process, prepare
from benchmarks.load import Connection, LoadSession
from benchmarks.results_pages import STUDY, SURVEY_SIZE, sign_in
from benchmarks.site import PRODUCTION, Site, machine, serve
from tests.servers import postgresql_cluster

INSTANCES = 1_000
ANNOTATORS_PER_PAGE = 5
LINES = 10


def addresses(instances: int, person: str) -> list[str]:
    values = {"late": instances - SURVEY_SIZE, "person": person}
    pages = [path.format(**values) for path in PAGES.values()]
    return [*pages, *(f"{LIST}?{query.format(**values)}" for query in QUERIES.values())]


async def send(site: Site, researcher: httpx.Client, pages: Sequence[str], requests: int) -> None:
    connection, paths = Connection(site.port), cycle(pages)
    annotating, every = _annotate(connection), max(1, requests // LINES)
    for number in range(1, requests + 1):
        if number % (ANNOTATORS_PER_PAGE + 1):
            await next(annotating)
        else:
            researcher.get(next(paths)).raise_for_status()
        if number % every == 0 or number == 1:
            print(f"{number:>8,} requests{site.worker_megabytes():>9.1f} MB", flush=True)


def _annotate(connection: Connection) -> Iterator[Coroutine[None, None, None]]:
    """Yield requests of one annotator after the other: arriving, then answers."""
    while True:
        session = LoadSession(STUDY)
        yield session.begin(connection)
        for _ in range(SURVEY_SIZE):
            yield _answer(session, connection)


async def _answer(session: LoadSession, connection: Connection) -> None:
    if not await session.answer(connection):
        raise SystemExit("An answer was not stored.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=50_000, help="number of requests (default 50000)")
    options = parser.parse_args()
    # Three places for annotators in each survey.
    surveys = options.requests // SURVEY_SIZE // ANSWERS + 1
    instances = INSTANCES + surveys * SURVEY_SIZE
    with tempfile.TemporaryDirectory(prefix="lineup-bench-") as name, postgresql_cluster(durable=True) as cluster:
        environment = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": cluster.url("memory"),
            "DATA_DIR": name,
            "STATIC_WITHOUT_COLLECT": "1",
            "STATIC_ROOT": name,
            "LOG_LEVEL": "WARNING",
        }
        _, _, person = in_its_own_process(
            prepare, instances=instances, folder=Path(name), environment=environment, open_surveys=surveys
        )
        print(machine(), flush=True)
        with serve("config.wsgi", environment=environment, configuration=PRODUCTION, workers=1, threads=2) as site:
            researcher = sign_in(site)
            researcher.headers.update(BROWSER)
            asyncio.run(send(site, researcher, addresses(instances, person), options.requests))


if __name__ == "__main__":
    main()

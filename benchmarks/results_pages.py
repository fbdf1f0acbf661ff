"""Time the pages that a researcher views while answers arrive: python -m benchmarks.results_pages.

A study of `best_of_n` with three answers a question, in the seven categories of BiVLC, is launched by the platform's
own commands, multiplied and answered directly in the database (`benchmarks/multiplying.py`, `answering.py`). The pages
are requested one after the other under gunicorn, signed in. For results that a Celery worker computes in the
background, the finished page is timed, and the wait for it is reported separately. Memory is that of the largest web
worker.
"""

import argparse
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import django
import httpx

from benchmarks.annotator_loop import make_instances
from benchmarks.answering import ANSWERED, answer_seats
from benchmarks.multiplying import REFERENCES, multiply, without_indexes
from benchmarks.site import PRODUCTION, ROOT, Site, machine, percentile, serve
from tests.servers import postgresql_cluster

ANSWERS = 3
SURVEY_SIZE = 100
IN_THE_BACKGROUND = "computed in the background"
LOOK_EVERY_SECONDS = 1
PASSWORD = "a password of the benchmark"
STUDY = "results-pages"
CATEGORIES = (
    *(("replace", subtype) for subtype in ("obj", "att", "rel")),
    *(("swap", subtype) for subtype in ("obj", "att")),
    *(("add", subtype) for subtype in ("obj", "att")),
)
SPLITS = ("train", "val", "test")
PAGES = {
    "results of the study": f"/studies/benchmark/{STUDY}/results/",
    "results of the project": "/projects/benchmark/results/",
    "monitor of the study": f"/studies/benchmark/{STUDY}/",
}
# Goal in seconds at the 95th percentile, up to this many responses.
GOALS = {10_000: 0.3, 1_000_000: 1.0}
DESIGN = f"""\
study: {STUDY}
title: Pick the image that fits the description
contact: Ada Lovelace, ada@example.org
kind: best_of_n
answers: {ANSWERS}
surveys: {{size: {SURVEY_SIZE}, double_seats: 0}}
seed: benchmark
time: {{estimated_minutes: 20, limit_minutes: 60}}
consent: ""
pay: {{currency: USD, per_session: "4.00"}}
"""


def make_study(*, responses: int, folder: Path, environment: Mapping[str, str], open_surveys: int = 0) -> int:
    """Create a study for `responses` responses, rounded down to whole surveys; return how many it has.

    Nobody has begun the last `open_surveys` surveys.
    """
    os.environ.update(environment)
    django.setup()
    from django.contrib.auth.models import User
    from django.core.management import call_command

    from studies.models import Instance, Project

    call_command("migrate", verbosity=0)
    project = Project.objects.create(slug="benchmark", name="Benchmark")
    seats = responses // SURVEY_SIZE
    surveys = min(10, max(1, seats // ANSWERS))
    make_instances(project.pk, surveys * SURVEY_SIZE)
    for number, (type, subtype) in enumerate(CATEGORIES):
        some = [pk for pk in Instance.objects.values_list("pk", flat=True) if pk % len(CATEGORIES) == number]
        Instance.objects.filter(pk__in=some).update(type=type, subtype=subtype)
    for number, split in enumerate(SPLITS):
        some = [pk for pk in Instance.objects.values_list("pk", flat=True) if pk % len(SPLITS) == number]
        Instance.objects.filter(pk__in=some).update(split=split)
    User.objects.create_superuser("researcher", password=PASSWORD)
    file = folder / "study.yaml"
    file.write_text(DESIGN, encoding="utf-8")
    call_command("create_study", str(file), project="benchmark", stdout=io.StringIO())
    call_command("launch_study", STUDY, stdout=io.StringIO())
    url = environment["DATABASE_URL"]
    with without_indexes(url, [*REFERENCES, *ANSWERED]):
        multiply(url, -(-seats // (surveys * ANSWERS)))
        stored = answer_seats(url, seats - open_surveys * ANSWERS)
    return stored


def sign_in(site: Site) -> httpx.Client:
    client = httpx.Client(base_url=site.address, follow_redirects=True, timeout=900)
    client.get("/sign-in/")
    fields = {"username": "researcher", "password": PASSWORD, "csrfmiddlewaretoken": client.cookies["csrftoken"]}
    client.post("/sign-in/", data=fields, headers={"Origin": site.address}).raise_for_status()
    return client


@contextmanager
def background_worker(environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--concurrency", "1", "--loglevel", "WARNING"]
    settings = {**os.environ, **environment}
    process = subprocess.Popen([*command, "--queues", "default"], cwd=ROOT, env=settings, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=60)


def peak_megabytes(worker: subprocess.Popen[bytes]) -> float:
    """Return the peak memory of the worker's child process, which runs the tasks."""
    (child,) = Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()[-1:]
    status = Path(f"/proc/{child}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000


def wait_until_made(client: httpx.Client, path: str) -> float:
    """Return the seconds from the first request until the page had its numbers, in whole polls."""
    started = time.perf_counter()
    while IN_THE_BACKGROUND in client.get(path).raise_for_status().text:
        time.sleep(LOOK_EVERY_SECONDS)
    return time.perf_counter() - started


def time_page(client: httpx.Client, path: str, times: int) -> tuple[list[float], int]:
    """Return the seconds of each of `times` requests, and the bytes of the page."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        answer = client.get(path)
        seconds.append(time.perf_counter() - started)
        answer.raise_for_status()
    return seconds, len(answer.content)


def _prepare(options: argparse.Namespace, environment: Mapping[str, str], folder: str) -> int:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        made = apart.submit(make_study, responses=options.responses, folder=Path(folder), environment=environment)
        return made.result()


def _measure(environment: Mapping[str, str], options: argparse.Namespace) -> None:
    goal = next((seconds for most, seconds in GOALS.items() if options.responses <= most), None)
    print(f"{'page':<26}{'made s':>8}{'p50 s':>8}{'p95 s':>8}{'goal':>6}{'kB':>8}{'web MB':>9}", flush=True)
    for name, path in PAGES.items():
        # A server for this page alone, so that the memory is its own.
        with serve("config.wsgi", environment=environment, configuration=PRODUCTION, workers=2, threads=4) as site:
            client = sign_in(site)
            made = wait_until_made(client, path)
            seconds, size = time_page(client, path, options.times)
            print(
                f"{name:<26}{made:>8.1f}{percentile(seconds, 0.5):>8.3f}{percentile(seconds, 0.95):>8.3f}"
                f"{goal or '':>6}{size / 1000:>8.0f}{site.worker_megabytes():>9.0f}",
                flush=True,
            )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--responses", type=int, default=10_000, help="number of answers (default 10000)")
    parser.add_argument("--times", type=int, default=20, help="requests per page (default 20)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="lineup-bench-") as folder, postgresql_cluster(durable=True) as cluster:
        environment = {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": cluster.url("results"),
            "DATA_DIR": folder,
            "STATIC_WITHOUT_COLLECT": "1",
            "STATIC_ROOT": folder,
            "LOG_LEVEL": "WARNING",
        }
        stored = _prepare(options, environment, folder)
        print(machine())
        print(f"{stored:,} responses, {ANSWERS} to a question; gunicorn with 2 workers x 4 threads; PostgreSQL")
        with background_worker(environment) as worker:
            _measure(environment, options)
            print(f"most memory of the background worker: {peak_megabytes(worker):.0f} MB")


if __name__ == "__main__":
    main()

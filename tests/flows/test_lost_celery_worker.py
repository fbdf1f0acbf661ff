"""What Celery workers do for studies in which people describe and retrieve, when the worker is killed in the middle.

Two sorts of things: every five minutes places are taken back whose time is over, and whoever waited too long is let go
(`annotation.expire_sessions`); exports are written, and numbers of large studies made (jobs, `background.run_job`).
Nothing that an annotator waits for is done by one. Here PostgreSQL holds what a worker is about to read, so that it is
killed in the middle for certain.
"""

import os
import signal
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from pytest_django import Settings

from annotation.tasks import expire_sessions
from background.tasks import resume_jobs, run_job
from tests import waiting
from tests.config.test_celery_workers import EMBEDDED_BROKER, send_to
from tests.databases import MIGRATED
from tests.flows.conftest import AT_HOME_ON_POSTGRESQL
from tests.flows.crowd import FORM, SLOT
from tests.flows.site import Site, browser_at, running_site, site_over
from tests.flows.two_roles import studies
from tests.servers import Cluster
from tests.workers import celery_worker

pytestmark = AT_HOME_ON_POSTGRESQL
WRITERS, READERS = 3, 2
WAIT_SECONDS = 60
ASK_FOR_AN_EXPORT = """
from django.contrib.auth.models import User
from django.utils import timezone
from results.actions.exports import job_of, request_export
from studies.models import Study
by = User.objects.create_user(username="ada")
export = request_export(study=Study.objects.get(slug="describe"), format="responses", by=by, now=timezone.now())
print(job_of(export=export).pk)
"""


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Iterator[Site]:
    url = cluster.url("lost_worker", like=MIGRATED)
    site = site_over(database_url=url, data_dir=tmp_path)
    site.run("-m", "tests.flows.launch_studies", *studies(sets=8, targets=2))
    with running_site(database_url=url, data_dir=tmp_path, workers=1) as running:
        yield running


@pytest.fixture
def database(site: Site) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(site.environment["DATABASE_URL"], autocommit=True) as connection:
        yield connection


def one(database: psycopg.Connection[Any], query: str, *parameters: object) -> Any:
    row = database.execute(query.encode(), parameters).fetchone()
    assert row is not None
    return row[0]


def wait_until(is_so: Callable[[], bool], folder: Path) -> None:
    log = folder / "worker.log"
    waiting.wait_until(is_so, seconds=WAIT_SECONDS, why=lambda: log.read_text(encoding="utf-8")[-3000:], every=0.05)


@contextmanager
def worker(site: Site, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with celery_worker(folder=folder, broker_url=EMBEDDED_BROKER, **site.environment) as process:
        yield process


def kill(process: subprocess.Popen[bytes]) -> None:
    """As when a machine loses its power: the worker and the process in which it does its work."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    for pid in [process.pid, *map(int, children.split())]:
        os.kill(pid, signal.SIGKILL)
    process.wait()


def arrive(browser: httpx.Client, slug: str, person: str) -> str:
    ids = {"PROLIFIC_PID": person, "STUDY_ID": "study", "SESSION_ID": f"{slug}-{person}"}
    page = browser.post(f"/take/{slug}/", params=ids).url.path
    shown = browser.post(f"{page}begin/").text
    if slug == "describe":
        form = SLOT.search(FORM.findall(shown)[0])
        assert form is not None
        browser.post(f"{page}draft/", data={"slot": form[1], "text": "So far"})
        answer = {"slot": form[1], "submission": str(uuid.uuid4()), "text": f"The lid of {person}."}
        browser.post(f"{page}answer/", data=answer)
    return page


OPEN = "SELECT count(*) FROM annotation_session WHERE ended_at IS NULL"
LAPSED = "SELECT count(*) FROM studies_event WHERE what = 'session lapsed'"
HELD = "SELECT count(*) FROM annotation_seat WHERE session_id IS NOT NULL AND filled_at IS NULL"
LOCK_THE_FIRST = "SELECT 1 FROM annotation_session ORDER BY arrived_at LIMIT 1 FOR UPDATE"
DRAFTS = "SELECT count(*) FROM annotation_draft"
STATE_OF_JOB = "SELECT state FROM background_job WHERE id = %s"
WAITING_FOR_A_LOCK = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


def test_places_are_taken_back_and_an_export_is_written_though_each_worker_is_killed(
    site: Site, database: psycopg.Connection[Any], tmp_path: Path, settings: Settings
) -> None:
    with browser_at(site.url) as browser:
        for number in range(READERS):
            assert "data-lobby" in browser.get(arrive(browser, "retrieve", f"reader-{number}")).text
        for number in range(WRITERS):
            arrive(browser, "describe", f"writer-{number}")
    assert (one(database, OPEN), one(database, HELD)) == (WRITERS + READERS, WRITERS)
    database.execute("UPDATE annotation_session SET lease_until = now() - interval '1 minute'")
    send_to(expire_sessions, broker_url=EMBEDDED_BROKER, folder=tmp_path)
    with stopped_in_the_middle(site, database, tmp_path, by=LOCK_THE_FIRST):
        # Whoever came first is looked at last.
        assert one(database, OPEN) == 1
    send_to(expire_sessions, broker_url=EMBEDDED_BROKER, folder=tmp_path)
    job = int(site.run("manage.py", "shell", "--no-imports", "-c", ASK_FOR_AN_EXPORT))
    send_to(run_job, job, broker_url=EMBEDDED_BROKER, folder=tmp_path)
    with stopped_in_the_middle(site, database, tmp_path, by="LOCK TABLE annotation_response IN ACCESS EXCLUSIVE MODE"):
        assert one(database, STATE_OF_JOB, job) == "running"
    # Each place once; nobody who has waited to the end, or left the page, holds one, and no draft outlives its place.
    assert [one(database, count) for count in (OPEN, HELD, LAPSED, DRAFTS)] == [0, 0, WRITERS, 0]
    # Its silence has lasted: the clock's next look finds it.
    database.execute("UPDATE background_job SET beat_at = beat_at - interval '1 day'")
    send_to(resume_jobs, broker_url=EMBEDDED_BROKER, folder=tmp_path)
    with worker(site, tmp_path):
        wait_until(lambda: one(database, STATE_OF_JOB, job) == "done", tmp_path)
    assert one(database, "SELECT attempts FROM background_job WHERE id = %s", job) == 2
    (made,) = Path(settings.MEDIA_ROOT).rglob(Path(one(database, "SELECT file FROM results_export")).name)
    assert len(made.read_text(encoding="utf-8").splitlines()) == 1 + WRITERS


@contextmanager
def stopped_in_the_middle(site: Site, database: psycopg.Connection[Any], folder: Path, *, by: str) -> Iterator[None]:
    """Let a worker do what waits for it until it comes to what the statement `by` locks, and kill it there."""
    with psycopg.connect(site.environment["DATABASE_URL"]) as other, worker(site, folder) as process:
        other.execute(by.encode())
        wait_until(lambda: one(database, WAITING_FOR_A_LOCK) == 1, folder)
        kill(process)
        yield

"""Real workers that are killed in the middle of a job."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from django.utils import timezone

from background import jobs
from background.models import Job, JobState
from background.tasks import resume_jobs, run_job
from tests import waiting
from tests.background import NAME
from tests.background.work import counted, gate, path
from tests.config.test_celery_workers import EMBEDDED_BROKER, send_to
from tests.workers import celery_worker

WAIT_SECONDS = 60
SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.background.worker_settings"}
pytestmark = pytest.mark.django_db(transaction=True)


def wait_until(is_so: Callable[[], bool], log: Path) -> None:
    def why() -> str:
        return f"{Job.objects.values()}: {log.read_text(encoding='utf-8')[-3000:]}"

    waiting.wait_until(is_so, seconds=WAIT_SECONDS, why=why)


def children(process: subprocess.Popen[bytes]) -> list[int]:
    """Return the processes in which a worker does its work."""
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """As when a machine loses its power."""
    for pid in [process.pid, *children(process)]:
        os.kill(pid, signal.SIGKILL)
    process.wait()


def state(job: Job) -> str:
    return Job.objects.values_list("state", flat=True).get(pk=job.pk)


def stopped_at(number: int, folder: Path) -> Job:
    """Return a job of eight numbers that a worker has begun and stops at `number`."""
    path().unlink(missing_ok=True)
    gate().unlink(missing_ok=True)
    arguments = {"numbers": 8, "waits_at": number}
    job, _ = jobs.request_job(kind=NAME, arguments=arguments, by=None, now=timezone.now())
    send_to(run_job, job.pk, broker_url=EMBEDDED_BROKER, folder=folder)
    wait_until(lambda: counted()[-1:] == [number], folder / "worker.log")
    return job


def goes_on_to_its_end(job: Job, folder: Path) -> None:
    gate().touch()
    wait_until(lambda: state(job) == JobState.DONE, folder / "worker.log")
    # The batch in which it was killed was done, but nothing said so: it is done again.
    assert counted() == [0, 1, 2, 3, 4, 5, 5, 6, 7]
    job.refresh_from_db()
    assert (job.attempts, job.done, job.total) == (2, 8, 8)


def test_jobs_go_on_when_their_worker_or_its_process_is_killed_and_end_when_they_are_cancelled(tmp_path: Path) -> None:
    """One after the other: the worker that takes the place of the one that was killed does them all."""
    log = tmp_path / "worker.log"
    with celery_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER, **SETTINGS) as worker:
        lost = stopped_at(5, tmp_path)
        kill_all(worker)
    assert state(lost) == JobState.RUNNING
    wait_until(lambda: jobs.stalled_jobs(now=timezone.now()) == [lost], log)
    send_to(resume_jobs, broker_url=EMBEDDED_BROKER, folder=tmp_path)
    with celery_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER, **SETTINGS) as worker:
        goes_on_to_its_end(lost, tmp_path)
        job = stopped_at(5, tmp_path)
        # For want of memory, say. The worker gives the message back, and nobody waits for a clock.
        for pid in children(worker):
            os.kill(pid, signal.SIGKILL)
        goes_on_to_its_end(job, tmp_path)
        job = stopped_at(2, tmp_path)
        jobs.cancel(job=job, now=timezone.now())
        gate().touch()
        wait_until(lambda: state(job) == JobState.CANCELLED, log)
        assert counted() == [0, 1, 2]

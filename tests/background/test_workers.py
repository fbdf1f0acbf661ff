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
from tests.background.work import counted, path
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


def ask(**arguments: int) -> Job:
    return jobs.request_job(kind=NAME, arguments=arguments, by=None, now=timezone.now())[0]


def state(job: Job) -> str:
    return Job.objects.values_list("state", flat=True).get(pk=job.pk)


def test_jobs_go_on_when_their_worker_or_its_process_is_killed_and_end_when_they_are_cancelled(tmp_path: Path) -> None:
    """One after the other: the worker that takes the place of the one that was killed does them all."""
    job = lost_with_its_worker(tmp_path)
    send_to(resume_jobs, broker_url=EMBEDDED_BROKER, folder=tmp_path)
    with celery_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER, **SETTINGS) as worker:
        goes_on_where_it_was(job, tmp_path)
        path().unlink()
        goes_on_at_once_when_its_process_alone_is_killed(worker, tmp_path)
        path().unlink()
        is_cancelled_while_a_worker_is_at_it(tmp_path)


def send_job(folder: Path, **arguments: int) -> Job:
    job = ask(**arguments)
    send_to(run_job, job.pk, broker_url=EMBEDDED_BROKER, folder=folder)
    return job


def lost_with_its_worker(folder: Path) -> Job:
    job, log = send_job(folder, numbers=40, milliseconds=100), folder / "worker.log"
    with celery_worker(folder=folder, broker_url=EMBEDDED_BROKER, **SETTINGS) as worker:
        wait_until(lambda: len(counted()) > 5, log)
        kill_all(worker)
    assert state(job) == JobState.RUNNING
    assert len(counted()) < 40
    wait_until(lambda: jobs.stalled(now=timezone.now()) == [job], log)
    return job


def goes_on_where_it_was(job: Job, folder: Path) -> None:
    wait_until(lambda: state(job) == JobState.DONE, folder / "worker.log")
    # The batch in which it was killed may have been done without the word about it, and is done again.
    assert sorted(set(counted())) == list(range(40))
    assert len(counted()) <= 41
    job.refresh_from_db()
    assert (job.attempts, job.done, job.total) == (2, 40, 40)


def goes_on_at_once_when_its_process_alone_is_killed(worker: "subprocess.Popen[bytes]", folder: Path) -> None:
    """For want of memory, say. The worker gives the message back, and nobody waits for a clock."""
    job, log = send_job(folder, numbers=40, milliseconds=100), folder / "worker.log"
    wait_until(lambda: len(counted()) > 5, log)
    for pid in children(worker):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: state(job) == JobState.DONE, log)
    assert sorted(set(counted())) == list(range(40))
    job.refresh_from_db()
    assert job.attempts == 2


def is_cancelled_while_a_worker_is_at_it(folder: Path) -> None:
    job, log = send_job(folder, numbers=400, milliseconds=100), folder / "worker.log"
    wait_until(lambda: len(counted()) > 2, log)
    jobs.cancel(job=job, now=timezone.now())
    wait_until(lambda: state(job) == JobState.CANCELLED, log)
    assert len(counted()) < 400

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
from tests.background.work import counted
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
    return jobs.ask(kind=NAME, arguments=arguments, by=None, now=timezone.now())[0]


def state(job: Job) -> str:
    return Job.objects.values_list("state", flat=True).get(pk=job.pk)


def test_a_job_whose_worker_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    job, log = ask(numbers=40, milliseconds=100), tmp_path / "worker.log"
    send_to(run_job, job.pk, broker_url=EMBEDDED_BROKER, folder=tmp_path)
    with celery_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER, **SETTINGS) as worker:
        wait_until(lambda: len(counted()) > 5, log)
        kill_all(worker)
    assert state(job) == JobState.RUNNING
    lost_at = len(counted())
    assert lost_at < 40
    wait_until(lambda: jobs.stalled(now=timezone.now()) == [job], log)
    send_to(resume_jobs, broker_url=EMBEDDED_BROKER, folder=tmp_path)
    with celery_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER, **SETTINGS):
        wait_until(lambda: state(job) == JobState.DONE, log)
    # The batch in which it was killed may have been done without the word about it, and is done again.
    assert sorted(set(counted())) == list(range(40))
    assert len(counted()) <= 41
    found = Job.objects.get()
    assert (found.attempts, found.done, found.total) == (2, 40, 40)


def test_a_job_whose_process_alone_was_killed_goes_on_at_once(tmp_path: Path) -> None:
    """For want of memory, say. The worker gives the message back, and nobody waits for a clock."""
    job, log = ask(numbers=40, milliseconds=100), tmp_path / "worker.log"
    send_to(run_job, job.pk, broker_url=EMBEDDED_BROKER, folder=tmp_path)
    with celery_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER, **SETTINGS) as worker:
        wait_until(lambda: len(counted()) > 5, log)
        for pid in children(worker):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: state(job) == JobState.DONE, log)
    assert sorted(set(counted())) == list(range(40))
    assert Job.objects.get().attempts == 2


def test_a_job_that_a_worker_is_at_is_cancelled(tmp_path: Path) -> None:
    job, log = ask(numbers=400, milliseconds=100), tmp_path / "worker.log"
    send_to(run_job, job.pk, broker_url=EMBEDDED_BROKER, folder=tmp_path)
    with celery_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER, **SETTINGS):
        wait_until(lambda: len(counted()) > 2, log)
        jobs.cancel(job=job, now=timezone.now())
        wait_until(lambda: state(job) == JobState.CANCELLED, log)
    assert len(counted()) < 400

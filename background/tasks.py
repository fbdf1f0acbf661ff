"""Tasks of jobs: run one job; and, periodically, send the lost ones again."""

from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from background import jobs
from background.decorator import task
from background.job_runner import run
from background.models import Job
from background.work import get_work

# Interval of the search; a message that no worker took in the meantime is dropped.
RESUME_EVERY_SECONDS = 60
# Time between the soft limit and the end of the process.
SECONDS_TO_STOP = 30


@task(name="background.run_job")
def run_job(job_id: int) -> None:
    run(job_id=job_id, message=run_job.request.id or "", now=timezone.now)


@task(name="background.resume_jobs", minutes=5)
def resume_jobs() -> None:
    """Send jobs again whose message was lost with its worker or broker; the database has the record."""
    now = timezone.now()
    jobs.delete_old(now=now)
    for job in jobs.stalled_jobs(now=now):
        run_job.send((job.pk,), expires=RESUME_EVERY_SECONDS, **_limits(job))


def send(job: Job) -> None:
    """Send `job` to a worker on commit. An unreachable broker does not fail the caller."""
    transaction.on_commit(partial(run_job.send, (job.pk,), **_limits(job)))


def _limits(job: Job) -> dict[str, Any]:
    """Return Celery's time limits for a job of this kind."""
    seconds = get_work(job.kind).minutes * 60
    return {"time_limit": seconds, "soft_time_limit": seconds - SECONDS_TO_STOP}

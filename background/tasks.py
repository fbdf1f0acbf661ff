"""The messages about jobs. One runs a job, whatever its kind; the other makes up, by the clock, for what was lost."""

from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from background import jobs
from background.decorator import task
from background.job_runner import run
from background.models import Job
from background.work import get_work

# Looked for this often; a message that nobody took in the meantime is not kept.
RESUME_EVERY_SECONDS = 60
# Between the word that time is up and the end of the process.
SECONDS_TO_STOP = 30


@task(name="background.run_job")
def run_job(job_id: int) -> None:
    run(job_id=job_id, message=run_job.request.id or "", now=timezone.now)


@task(name="background.resume_jobs", minutes=5)
def resume_jobs() -> None:
    """A message can be lost with its worker or its broker; what was asked for stands in the database."""
    now = timezone.now()
    jobs.tidy(now=now)
    for job in jobs.stalled(now=now):
        run_job.send((job.pk,), expires=RESUME_EVERY_SECONDS, **_limits(job))


def send(job: Job) -> None:
    """Tell a worker of `job` once this transaction is through. A broker that is away does not stop whoever asks."""
    transaction.on_commit(partial(run_job.send, (job.pk,), **_limits(job)))


def _limits(job: Job) -> dict[str, Any]:
    """Return how long the process of a worker has for a job of this kind."""
    seconds = get_work(job.kind).minutes * 60
    return {"time_limit": seconds, "soft_time_limit": seconds - SECONDS_TO_STOP}

"""Doing what a worker does with a job, here and now."""

from datetime import datetime

from django.utils import timezone

from background.job_runner import run
from background.models import Job


def run_now(job: Job, *, now: datetime | None = None, message: str = "") -> Job:
    """Run a job by a clock that stands still at `now`; return what has become of it."""
    run(job_id=job.pk, message=message, now=timezone.now if now is None else lambda: now)
    job.refresh_from_db()
    return job

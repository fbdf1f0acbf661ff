"""State changes of a job, from request to end. The clock is passed in.

A running job is identified by the number of its attempt: reports of earlier attempts are ignored.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from background import live_progress
from background.errors import Cancelled, Superseded
from background.models import UNFINISHED, Job, JobState
from background.work import get_work, kinds

logger = logging.getLogger(__name__)

# A message that waited longer was lost, or its worker is busy: a second message does no harm.
WAITING_AT_MOST = timedelta(minutes=2)
# After this many starts without reaching another step a job is not started again: it may crash its workers.
MOST_FRUITLESS = 5


def request_job(
    *, kind: str, arguments: Mapping[str, int], by: User | None, now: datetime, key: str = ""
) -> tuple[Job, bool]:
    """Return a waiting job, and whether it is new and has to be sent (`background.tasks.send`).

    With the `key` of a waiting or running job, returns that job. Raises UnknownWork.
    """
    fields = {"arguments": dict(arguments), "unit": get_work(kind).unit, "requested_by": by, "asked_at": now}
    if not key:
        return Job.objects.create(kind=kind, **fields), True
    return Job.objects.get_or_create(kind=kind, key=key, state__in=UNFINISHED, defaults=fields)


def claim(*, job_id: int, message: str, now: datetime) -> Job | None:
    """Claim the job for the worker that got `message`; None if there is nothing to do.

    A running job is taken over from a worker that was silent for too long; and at once when the broker redelivers its
    message, because it does so when the worker was lost. Raises UnknownWork.
    """
    with transaction.atomic():
        found = Job.objects.filter(pk=job_id, state__in=UNFINISHED).first()
        if found is None:
            return None
        free = Q(state=JobState.WAITING) | Q(beat_at__lt=now - get_work(found.kind).lost_after)
        if message:
            free |= Q(message=message)
        begun = Job.objects.filter(free, pk=job_id, state__in=UNFINISHED, cancel_asked_at=None).update(
            state=JobState.RUNNING,
            attempts=F("attempts") + 1,
            fruitless=F("fruitless") + 1,
            started_at=Coalesce("started_at", now),
            beat_at=now,
            message=message,
        )
        if not begun:
            return None
        # The lock lasts until the transaction ends, so the number read is this attempt's.
        found.refresh_from_db()
    if found.fruitless > MOST_FRUITLESS:
        fail(job=found, error=_explain_restarts(found), now=now)
        return None
    return found


def _explain_restarts(job: Job) -> str:
    return (
        f"{get_work(job.kind).trouble} It was started {MOST_FRUITLESS} times and never made "
        "progress. The machine may be short of memory: ask your administrator to check the "
        "worker's log."
    )


def progress(*, job: Job, now: datetime, **news: Any) -> None:
    """Store progress of `job`: done, total, step. Raises Cancelled or Superseded."""
    if "step" in news:
        news["fruitless"] = 0
    mine = _unchanged_job(job)
    if mine.filter(cancel_asked_at=None).update(beat_at=now, **news):
        return
    if mine.exists():
        raise Cancelled
    raise Superseded


def finish(*, job: Job, now: datetime, **news: Any) -> None:
    """Record that `job` is done."""
    _end_if_unchanged(job, JobState.DONE, now, **news)


def fail(*, job: Job, error: str, now: datetime) -> None:
    """Record that `job` failed, and why, in a sentence for people."""
    _end_if_unchanged(job, JobState.FAILED, now, error=error)


def mark_cancelled(*, job: Job, now: datetime) -> None:
    """Record that `job` stopped because it was cancelled."""
    _end_if_unchanged(job, JobState.CANCELLED, now)


def requeue(*, job: Job) -> None:
    """Return `job` to the queue: this worker cannot continue, and the work is not at fault."""
    # Not the state of `job`: the transaction in which it ended may be lost.
    Job.objects.filter(pk=job.pk, state=JobState.RUNNING, attempts=job.attempts).update(
        state=JobState.WAITING, message=""
    )


def cancel(*, job: Job, now: datetime) -> None:
    """End a waiting job; mark a running one, whose worker stops before its next batch."""
    job.refresh_from_db()
    if job.state == JobState.WAITING and _end_if_unchanged(job, JobState.CANCELLED, now):
        return
    Job.objects.filter(pk=job.pk, state=JobState.RUNNING, cancel_asked_at=None).update(cancel_asked_at=now)
    job.refresh_from_db()


def _end_if_unchanged(job: Job, state: JobState, now: datetime, **news: Any) -> bool:
    """End `job` if its row is unchanged since it was read; return whether it was."""
    with transaction.atomic():
        if not _unchanged_job(job).update(state=state, finished_at=now, **news):
            return False
        job.refresh_from_db()
        if state != JobState.DONE:
            get_work(job.kind).ended(job)
    live_progress.forget(job.pk)
    logger.info("job %s (%s) is %s", job.pk, job.kind, state)
    return True


def _unchanged_job(job: Job) -> QuerySet[Job]:
    return Job.objects.filter(pk=job.pk, state=job.state, attempts=job.attempts)


def stalled_jobs(*, now: datetime) -> list[Job]:
    """Return jobs whose message or worker must have been lost, but none of other versions.

    Ends those that were cancelled, instead of returning them.
    """
    waiting = Q(state=JobState.WAITING, asked_at__lt=now - WAITING_AT_MOST)
    silent = [Q(kind=kind, state=JobState.RUNNING, beat_at__lt=now - get_work(kind).lost_after) for kind in kinds()]
    found = Job.objects.filter(reduce(or_, silent, waiting), kind__in=kinds(), state__in=UNFINISHED).order_by("pk")
    again = []
    for job in found:
        if job.cancel_asked_at is None:
            again.append(job)
        else:
            mark_cancelled(job=job, now=now)
    return again


def delete_old(*, now: datetime) -> int:
    """Delete jobs that ended long ago; return how many. Results and errors are stored with their requests."""
    deleted = 0
    for kind in kinds():
        ended = Job.objects.filter(kind=kind, finished_at__lt=now - timedelta(days=get_work(kind).days_kept))
        deleted += ended.delete()[0]
    return deleted

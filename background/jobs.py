"""What happens to a job, from the moment somebody asks for it to its end. The clock is passed in.

A worker that has begun a job is known by the number of the attempt: whatever it says once another has begun counts
for nothing.
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

from background.errors import Cancelled, Superseded
from background.models import UNFINISHED, Job, JobState
from background.work import get_work, kinds

logger = logging.getLogger(__name__)

# The message of a job that waits for longer was lost, or its worker is busy: another one does no harm.
WAITING_AT_MOST = timedelta(minutes=2)
# Begun this often without reaching another step, it is not begun again: it may be what ends its workers.
MOST_FRUITLESS = 5


def ask(*, kind: str, arguments: Mapping[str, int], by: User | None, now: datetime, key: str = "") -> tuple[Job, bool]:
    """Return a job that waits for a worker, and whether it is new: to be sent, that is (`background.tasks.send`).

    Asked with the `key` of one that waits or runs, it is that one. Raises UnknownWork.
    """
    fields = {"arguments": dict(arguments), "unit": get_work(kind).unit, "requested_by": by, "asked_at": now}
    if not key:
        return Job.objects.create(kind=kind, **fields), True
    return Job.objects.get_or_create(kind=kind, key=key, state__in=UNFINISHED, defaults=fields)


def start(*, job_id: int, message: str, now: datetime) -> Job | None:
    """Take a job for the worker that got `message`; None when there is nothing to do, or another worker has it.

    A job that is running is taken from a worker that was silent for too long, and at once when the broker gives its
    message again, which it does when the worker that held it was lost. Raises UnknownWork.
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
        # The row is ours until the end of this transaction: the number read is that of this attempt.
        found.refresh_from_db()
    if found.fruitless > MOST_FRUITLESS:
        fail(job=found, error=_lost_too_often(found), now=now)
        return None
    return found


def _lost_too_often(job: Job) -> str:
    return (
        f"{get_work(job.kind).trouble} It was begun {MOST_FRUITLESS} times and ended each time before it got anywhere. "
        "The machine may be short of memory: tell whoever runs the site to look at the worker's log."
    )


def progress(*, job: Job, now: datetime, **news: Any) -> None:
    """Keep what the worker of `job` says of it: done, total, step. Raises Cancelled or Superseded."""
    if "step" in news:
        news["fruitless"] = 0
    mine = _as_it_is(job)
    if mine.filter(cancel_asked_at=None).update(beat_at=now, **news):
        return
    if mine.exists():
        raise Cancelled
    raise Superseded


def finish(*, job: Job, now: datetime, **news: Any) -> None:
    """Note that `job` is done."""
    _end(job, JobState.DONE, now, **news)


def fail(*, job: Job, error: str, now: datetime) -> None:
    """Note that `job` cannot be done, and why, in words for people."""
    _end(job, JobState.FAILED, now, error=error)


def give_up(*, job: Job, now: datetime) -> None:
    """Note that `job` has stopped because somebody asked for it."""
    _end(job, JobState.CANCELLED, now)


def give_back(*, job: Job) -> None:
    """Let `job` wait for another worker; this one cannot go on, through no fault of the work."""
    _as_it_is(job).update(state=JobState.WAITING, message="")


def cancel(*, job: Job, now: datetime) -> None:
    """End a job that waits; tell the worker of one that runs to stop, which it does before its next batch."""
    job.refresh_from_db()
    if job.state == JobState.WAITING and _end(job, JobState.CANCELLED, now):
        return
    Job.objects.filter(pk=job.pk, state=JobState.RUNNING, cancel_asked_at=None).update(cancel_asked_at=now)
    job.refresh_from_db()


def _end(job: Job, state: JobState, now: datetime, **news: Any) -> bool:
    """End `job` if it is still what it was when it was read; return whether it was."""
    with transaction.atomic():
        if not _as_it_is(job).update(state=state, finished_at=now, **news):
            return False
        job.refresh_from_db()
        if state != JobState.DONE:
            get_work(job.kind).ended(job)
    logger.info("job %s (%s) is %s", job.pk, job.kind, state)
    return True


def _as_it_is(job: Job) -> QuerySet[Job]:
    return Job.objects.filter(pk=job.pk, state=job.state, attempts=job.attempts)


def stalled(*, now: datetime) -> list[Job]:
    """Return the jobs whose message, or whose worker, must have been lost; those of other versions are left alone.

    One that somebody wanted to be cancelled is ended instead of being sent again.
    """
    waiting = Q(state=JobState.WAITING, asked_at__lt=now - WAITING_AT_MOST)
    silent = [Q(kind=kind, state=JobState.RUNNING, beat_at__lt=now - get_work(kind).lost_after) for kind in kinds()]
    found = Job.objects.filter(reduce(or_, silent, waiting), kind__in=kinds(), state__in=UNFINISHED).order_by("pk")
    again = []
    for job in found:
        if job.cancel_asked_at is None:
            again.append(job)
        else:
            give_up(job=job, now=now)
    return again


def tidy(*, now: datetime) -> int:
    """Delete jobs that ended long ago; return how many. What they made, and why not, stands with what was asked for."""
    deleted = 0
    for kind in kinds():
        ended = Job.objects.filter(kind=kind, finished_at__lt=now - timedelta(days=get_work(kind).days_kept))
        deleted += ended.delete()[0]
    return deleted

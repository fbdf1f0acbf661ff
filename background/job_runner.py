"""Run a job in a worker, and record how it ends."""

import logging
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError, connections

from background import jobs, live_progress
from background.errors import Cancelled, Failed, Superseded
from background.models import Job
from background.work import Work, get_work

logger = logging.getLogger(__name__)

# Progress is stored about this often, and shows that the worker is alive.
TELL_EVERY = timedelta(seconds=1)
# Seconds before each attempt to requeue a job while the database is away. In this minute most servers restart.
WAITS = (0, 1, 2, 4, 8, 15, 30)


class Attempt:
    """One worker's attempt at a job; implements `background.work.RunningJob`."""

    def __init__(self, job: Job, now: Callable[[], datetime]) -> None:
        self.job = job
        self.clock = now
        self.arguments: Mapping[str, int] = job.arguments
        self.step: Mapping[str, Any] = job.step
        self.news: dict[str, Any] = {}
        self._show = live_progress.reporter(job, now)
        self._told_at = datetime.min.replace(tzinfo=job.asked_at.tzinfo)

    def now(self) -> datetime:
        return self.clock()

    def advance(
        self, *, step: Mapping[str, Any] | None = None, done: int | None = None, total: int | None = None
    ) -> None:
        said = {"done": done, "total": total}
        self.news |= {name: value for name, value in said.items() if value is not None}
        now = self.now()
        if step is not None:
            self.step = self.news["step"] = dict(step)
        elif now - self._told_at < TELL_EVERY:
            return
        self._tell(now)

    def show(self, stage: str, done: int, total: int) -> None:
        self._show(stage, done, total)

    def check(self) -> None:
        self._tell(self.now())

    def _tell(self, now: datetime) -> None:
        jobs.progress(job=self.job, now=now, **self.news)
        self.news.clear()
        self._told_at = now


def run(*, job_id: int, message: str, now: Callable[[], datetime]) -> None:
    """Run a job, unless it is over or another worker has it, and record its end. Raises UnknownWork.

    Failures are recorded as sentences for the user; an unexpected error is logged with its trace, under a reference
    that the sentence repeats.
    """
    job = jobs.claim(job_id=job_id, message=message, now=now())
    if job is None:
        return
    try:
        _attempt(job, now)
    except (OperationalError, InterfaceError) as error:
        logger.error("job %s (%s) is tried again: %s", job.pk, job.kind, str(error).partition("\n")[0])
        _requeue_when_possible(job)


def _attempt(job: Job, now: Callable[[], datetime]) -> None:
    """Run `job` and record its end. Raises OperationalError or InterfaceError if the database is away or locked."""
    work, turn = get_work(job.kind), Attempt(job, now)
    try:
        work.run(turn)
    except Cancelled:
        jobs.mark_cancelled(job=job, now=now())
    except Superseded:
        logger.warning("another worker has taken over job %s (%s)", job.pk, job.kind)
    except Failed as failed:
        jobs.fail(job=job, error=str(failed), now=now())
    except SoftTimeLimitExceeded:
        _requeue_or_fail(job, work, now())
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        reference = uuid.uuid4().hex[:8]
        logger.exception("job %s (%s) failed, reference %s", job.pk, job.kind, reference)
        told = f"{work.trouble} If it happens again, tell your administrator: reference {reference}."
        jobs.fail(job=job, error=told, now=now())
    else:
        jobs.finish(job=job, now=now(), **turn.news)


def _requeue_when_possible(job: Job) -> None:
    """Requeue `job` as soon as the database answers; if it stays away, the job counts as lost once silent for too long.

    Django opens no new connection in the middle of a task, so lost ones are closed here.
    """
    for seconds in WAITS:
        time.sleep(seconds)
        for connection in connections.all(initialized_only=True):
            if not connection.is_usable():
                connection.close()
        try:
            jobs.requeue(job=job)
        except (OperationalError, InterfaceError):
            continue
        return
    logger.error("job %s (%s) waits until it counts as lost: the database is still away", job.pk, job.kind)


def _requeue_or_fail(job: Job, work: Work, now: datetime) -> None:
    """Requeue work that has reached another step; work without steps would only run out of time again."""
    if Job.objects.filter(pk=job.pk, fruitless=0).exists():
        jobs.requeue(job=job)
        return
    jobs.fail(job=job, error=f"{work.trouble} It took more than {work.minutes} minutes.", now=now)

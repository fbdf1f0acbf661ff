"""Registered work of jobs, by name in the setting JOBS, and its view of a running job."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from background.errors import UnknownWork
from background.models import Job

# Extra silence allowed beyond the work's time limit: by then its worker has been ended.
GRACE = timedelta(minutes=1)


class RunningJob(Protocol):
    """A running job, as its work sees it."""

    @property
    def arguments(self) -> Mapping[str, int]:
        """Return the arguments of the job."""

    @property
    def step(self) -> Mapping[str, Any]:
        """Return where to continue: the last step of `advance`, by this or an earlier worker; or ""."""

    def now(self) -> datetime:
        """Return the time of the worker's clock."""

    def advance(
        self, *, step: Mapping[str, Any] | None = None, done: int | None = None, total: int | None = None
    ) -> None:
        """Report progress between two batches. Raises Cancelled or Superseded if the work must stop.

        Without a `step`, it is stored once a second and costs nothing in between. A `step` is always stored: in the
        transaction of its batch, so that the batch is done exactly once, even if the worker is killed. Keep that
        transaction short: until it commits nobody sees the progress, and whoever cancels the job waits.
        """

    def show(self, stage: str, done: int, total: int) -> None:
        """Show progress in the middle of a long transaction, which hides that of `advance`. Never raises."""

    def check(self) -> None:
        """Raise Cancelled or Superseded if the work must stop, whenever that was last read.

        Call it in the transaction that stores the result: until it commits, nobody can cancel or take over the job.
        """


def _do_nothing(job: Job) -> None:
    pass


@dataclass(frozen=True)
class Work:
    """A registered piece of work.

    run: must be idempotent, because the job of a lost worker runs again. Raises Failed with a sentence for people.
    trouble: the sentence for any other error. ended: called with a failed or cancelled job, in the transaction that
    ends it.
    """

    run: Callable[[RunningJob], None]
    trouble: str
    unit: str = ""
    minutes: int = 10
    # After this long without a report a worker counts as lost; work that advances often can set less.
    patience: timedelta | None = None
    ended: Callable[[Job], None] = _do_nothing
    days_kept: int = 30

    @property
    def lost_after(self) -> timedelta:
        return timedelta(minutes=self.minutes) + GRACE if self.patience is None else self.patience


def kinds() -> list[str]:
    """Return the names of all registered work."""
    return list(settings.JOBS)


def get_work(kind: str) -> Work:
    """Return the work called `kind`. Raises UnknownWork."""
    try:
        path = settings.JOBS[kind]
    except KeyError:
        raise UnknownWork(f"No work is called {kind}. Known: {', '.join(kinds())}.") from None
    work: Work = import_string(path)
    return work

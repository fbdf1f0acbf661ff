"""What a job does: work, registered by name in the setting JOBS, and what it sees of its job while it is at it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from background.errors import UnknownWork
from background.models import Job

# How much longer a job may be silent than it may take: by then its worker has been ended.
GRACE = timedelta(minutes=1)


class Running(Protocol):
    """A job in the hands of the worker that runs it."""

    @property
    def arguments(self) -> Mapping[str, int]:
        """Return what the job is about."""

    @property
    def step(self) -> Mapping[str, Any]:
        """Return where to go on: what `advance` was told last, by this worker or by one that was lost; or nothing."""

    def now(self) -> datetime:
        """Return the time by the worker's clock."""

    def advance(
        self, *, step: Mapping[str, Any] | None = None, done: int | None = None, total: int | None = None
    ) -> None:
        """Say how far the work is, between two batches. Raises Cancelled or Superseded when it is to stop.

        Without a `step` it is told about once a second and costs nothing in between. A `step` is always kept: in the
        transaction of its batch, a batch is done once, whoever is killed. Such a transaction is short: until it is
        through, nobody sees how far the job is, and whoever cancels it waits.
        """

    def check(self) -> None:
        """Raise Cancelled or Superseded when the work is to stop, however long ago that was looked up.

        In the transaction that keeps what was made: until it is through, nobody cancels the job or takes it over.
        """


def _nothing(job: Job) -> None:
    pass


@dataclass(frozen=True)
class Work:
    """A registered piece of work. `run` does nothing new when it runs twice: a job whose worker was lost runs again.

    `run` raises Failed with a sentence for people; `trouble` is what they are told when it raises anything else.
    `ended` is told of a job that failed or was cancelled, in the transaction in which it ends.
    """

    run: Callable[[Running], None]
    trouble: str
    unit: str = ""
    minutes: int = 10
    # A worker that gave no sign of life for this long is taken for lost; work that often advances can say less.
    patience: timedelta | None = None
    ended: Callable[[Job], None] = _nothing
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

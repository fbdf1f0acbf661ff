"""The decorator of every Celery task. Imported before Django's models are, so it imports none."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, Protocol

from celery import shared_task
from celery.contrib.django.task import DjangoTask
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

P = ParamSpec("P")


class BackgroundTask(DjangoTask[P, None]):
    """A task whose sending never fails the request that asked for it.

    The work is recorded in the database; the message only says "now". A periodic task finds rows that wait too long, so
    a message may be lost.
    """

    def delay_on_commit(self, *args: P.args, **kwargs: P.kwargs) -> None:  # type: ignore[override]
        transaction.on_commit(partial(self.send, args, kwargs))

    def send(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, **options: Any) -> None:
        """Send a message now, with Celery's `options`."""
        try:
            self.apply_async(args, kwargs or {}, **options)
        except OperationalError as error:
            logger.error("%s is sent again later: the broker cannot be reached (%s).", self.name, error)


class TaskMaker(Protocol):
    def __call__(self, function: Callable[P, None], /) -> BackgroundTask[P]: ...


def task(*, name: str, minutes: int = 60) -> TaskMaker:
    """Make a task of a function that takes ids. It must be idempotent: a lost worker's task runs again.

    name: begins with the room. minutes: the worker process is ended after this time.
    """

    def make(function: Callable[P, None], /) -> BackgroundTask[P]:
        made: BackgroundTask[P] = shared_task(
            name=name,
            base=BackgroundTask,
            acks_late=True,
            reject_on_worker_lost=True,
            ignore_result=True,
            time_limit=minutes * 60,
            soft_time_limit=minutes * 60 - 30,
        )(function)
        return made

    return make

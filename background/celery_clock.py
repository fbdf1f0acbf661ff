"""Ends workers whose clock is wrong, which whoever runs them starts again, and lets beat wait until it is right.

Neither opens a connection to the database before it handles messages. Workers would drop the messages of a beat that is
behind, and a worker that is ahead would drop all that expire.
"""

import logging
import time
from typing import Any

from celery import bootsteps
from celery.beat import Scheduler
from celery.worker import state

from background.clock import explain_wrong_clock

logger = logging.getLogger(__name__)

CHECKED_EVERY_SECONDS = 60
# Beat compares a wrong clock again after so long.
WRONG_SECONDS = 5.0
FAILED = 1


class CheckedScheduler(Scheduler):
    """Beat's schedule; compares the clocks before the first message and once a minute, and waits until they agree.

    It does not exit: a worker that runs beat would go on without it.
    """

    checked_at: float | None = None

    def tick(self, *args: Any, **kwargs: Any) -> float:
        now = time.monotonic()
        if self.checked_at is None or now - self.checked_at >= CHECKED_EVERY_SECONDS:
            if wrong := explain_wrong_clock():
                logger.error(wrong)
                return WRONG_SECONDS
            self.checked_at = now
        seconds: float = super().tick(*args, **kwargs)
        return seconds


class CheckClock(bootsteps.StartStopStep):
    """Part of a worker: compares the clocks before the first message and once a minute."""

    entry: Any = None

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        if wrong := explain_wrong_clock():
            logger.error(wrong)
            raise SystemExit(FAILED)

    def start(self, consumer: Any) -> None:
        self.entry = consumer.timer.call_repeatedly(CHECKED_EVERY_SECONDS, self.check)

    def stop(self, consumer: Any) -> None:
        if self.entry is not None:
            self.entry.cancel()

    @staticmethod
    def check() -> None:
        """Have the worker finish its tasks and exit if the clock is wrong."""
        if wrong := explain_wrong_clock():
            logger.error(wrong)
            # The timer may run in a thread, where SystemExit ends nothing else.
            state.should_stop = FAILED  # type: ignore[assignment]

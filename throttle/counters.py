"""Rate limits over several processes and machines: `hit` counts, then says whether the limit is exceeded.

    verdict = hit(scope="arrivals", key=network_of(request), limit=30, window=timedelta(minutes=10), now=timezone.now())
    if not verdict.allowed:
        ...  # 429 with Retry-After: verdict.retry_after

Counting and asking are one atomic step: of forty concurrent hits with a limit of ten, ten are allowed. A window starts
with its first hit, so up to twice the limit may pass across the end of a window. Counts are in the database, or in
Redis if CACHE_URL names one; while Redis is unreachable, in the database. Call `hit` outside of transactions: a
rollback would take the count back, and an open transaction blocks everybody with the same key.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import TypeVar

from django.conf import settings
from django.utils.crypto import salted_hmac
from redis.exceptions import RedisError

from throttle.stores import DatabaseStore, RedisStore, Store

logger = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True)
class Verdict:
    """`hits` includes this one; `retry_after` is in whole seconds, at least 1, and 0 when allowed."""

    allowed: bool
    retry_after: int
    hits: int

    @property
    def minutes(self) -> int:
        """Return the waiting time for people: whole minutes, at least 1 unless allowed."""
        return ceil(self.retry_after / 60)


def hit(*, scope: str, key: str, limit: int, window: timedelta, now: datetime) -> Verdict:
    """Count one more hit of `key` in `scope`; allowed up to `limit` hits in the window.

    Raises nothing of its own; an unavailable database raises as usual. `now` starts a window in the database; Redis
    uses its own clock.
    """
    digest = _digest(scope, key)
    hits, seconds_left = _in_store(lambda store: store.hit(digest, window=window, now=now))
    allowed = hits <= limit
    return Verdict(allowed=allowed, retry_after=0 if allowed else max(1, seconds_left), hits=hits)


def take_back(*, scope: str, key: str) -> None:
    """Take back one hit that turned out not to count against the limit."""
    _in_store(lambda store: store.take_back(_digest(scope, key)))


def reset(*, scope: str, key: str) -> None:
    """Reset the count of `key` in `scope`."""
    _in_store(lambda store: store.reset(_digest(scope, key)))


def _digest(scope: str, key: str) -> str:
    # Keyed with the site's secret, so that nobody who sees the table can try out all addresses or names.
    return salted_hmac(f"throttle.{scope}", key, algorithm="sha256").hexdigest()


def _in_store(count: Callable[[Store], T]) -> T:
    """Count in the site's store; in the database if Redis cannot be reached."""
    if settings.CACHE_URL:
        try:
            return count(RedisStore(settings.CACHE_URL))
        except RedisError as error:
            logger.warning("The cache cannot be reached (%s). Counting in the database instead.", error)
    return count(DatabaseStore())

"""Limits over several processes and machines: `hit` counts first and then says whether that was too often.

    verdict = hit(scope="arrivals", key=network_of(request), limit=30, window=timedelta(minutes=10), now=timezone.now())
    if not verdict.allowed:
        ...  # 429 with Retry-After: verdict.retry_after

Counting and asking are one step: of forty at once under a limit of ten, ten are allowed. A window begins with the first
hit and ends by itself, so over the border between two windows up to twice the limit may pass. Counts stand in the
database, or in Redis when CACHE_URL names one; while Redis is away, in the database. Hits belong outside of a
transaction: one that is rolled back takes its count with it, and an open one holds up everybody with the same key.
"""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.conf import settings
from django.utils.crypto import salted_hmac
from redis.exceptions import RedisError

from throttle.stores import DATABASE, RedisStore, Store

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Verdict:
    """`hits` counts the one asked for too; `retry_after` is in whole seconds, at least 1, and 0 when allowed."""

    allowed: bool
    retry_after: int
    hits: int

    @property
    def minutes(self) -> int:
        """Return how long to wait as people are told it: whole minutes, at least 1 unless allowed."""
        return ceil(self.retry_after / 60)


def hit(*, scope: str, key: str, limit: int, window: timedelta, now: datetime) -> Verdict:
    """Count one more of `key` in `scope`; allowed as long as there are no more than `limit` in the window.

    Raises nothing of its own; a database that is away raises what it always does. `now` starts a window in the
    database; Redis has a clock of its own.
    """
    digest = _digest(scope, key)
    try:
        hits, seconds_left = _store().hit(digest, window=window, now=now)
    except RedisError as error:
        hits, seconds_left = _instead(error).hit(digest, window=window, now=now)
    allowed = hits <= limit
    return Verdict(allowed=allowed, retry_after=0 if allowed else max(1, seconds_left), hits=hits)


def give_back(*, scope: str, key: str) -> None:
    """Take back one hit: what was counted turned out to be none of those that the limit is for."""
    digest = _digest(scope, key)
    try:
        _store().give_back(digest)
    except RedisError as error:
        _instead(error).give_back(digest)


def forget(*, scope: str, key: str) -> None:
    """Start `key` anew in `scope`."""
    digest = _digest(scope, key)
    try:
        _store().forget(digest)
    except RedisError as error:
        _instead(error).forget(digest)


def _digest(scope: str, key: str) -> str:
    # Keyed with the site's secret: whoever sees the table cannot try out all addresses or names.
    return salted_hmac(f"throttle.{scope}", key, algorithm="sha256").hexdigest()


def _store() -> Store:
    return RedisStore(settings.CACHE_URL) if settings.CACHE_URL else DATABASE


def _instead(error: RedisError) -> Store:
    logger.warning("The cache cannot be reached (%s). Counting in the database instead.", error)
    return DATABASE

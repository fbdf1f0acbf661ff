"""Stores of counts. Each counts a hit in one atomic step, however many are concurrent."""

from datetime import datetime, timedelta
from functools import cache
from math import ceil

from django.db import connection, transaction
from django.db.models import F, QuerySet
from redis import Redis

from throttle.models import Count

# Above this many rows, those with the fewest hits are deleted first, so that invented keys displace each other and not
# the count of a key under attack.
MOST_ROWS = 100_000
SWEPT_AT_ONCE = 5_000
# Every 64th new key sweeps, chosen by its digest.
NEW_KEYS_PER_SWEEP = 64

HIT = """
INSERT INTO throttle_count (digest, hits, ends_at) VALUES (%s, 1, %s)
ON CONFLICT (digest) DO UPDATE SET
    hits = CASE WHEN throttle_count.ends_at <= %s THEN 1 ELSE throttle_count.hits + 1 END,
    ends_at = CASE WHEN throttle_count.ends_at <= %s THEN excluded.ends_at ELSE throttle_count.ends_at END
RETURNING hits, ends_at
"""

REDIS_SECONDS = 1
# Only an existing key is decremented: an expired one would come back and never expire.
COUNT_DOWN = "if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('DECR', KEYS[1]) end"


class DatabaseStore:
    def hit(self, digest: str, *, window: timedelta, now: datetime) -> tuple[int, int]:
        """Return the hits of the current window, this one included, and the seconds until it ends."""
        seconds = int(now.timestamp())
        with connection.cursor() as cursor:
            cursor.execute(HIT, [digest, seconds + ceil(window.total_seconds()), seconds, seconds])
            hits, ends_at = cursor.fetchone()
        if hits == 1 and int(digest[:8], 16) % NEW_KEYS_PER_SWEEP == 0:
            sweep(now=now)
        return hits, ends_at - seconds

    def take_back(self, digest: str) -> None:
        Count.objects.filter(digest=digest, hits__gt=0).update(hits=F("hits") - 1)

    def reset(self, digest: str) -> None:
        Count.objects.filter(digest=digest).delete()


def sweep(*, now: datetime) -> None:
    """Delete counts whose window is over, and surplus rows."""
    _remove(Count.objects.filter(ends_at__lte=int(now.timestamp())).order_by("ends_at")[:SWEPT_AT_ONCE])
    too_many = Count.objects.count() - MOST_ROWS
    if too_many > 0:
        _remove(Count.objects.order_by("hits", "ends_at")[: min(too_many, SWEPT_AT_ONCE)])


def _remove(counts: QuerySet[Count]) -> None:
    # Skip rows that others are counting on or deleting: two sweeps never wait for each other.
    with transaction.atomic():
        digests = list(counts.select_for_update(skip_locked=True).values_list("digest", flat=True))
        Count.objects.filter(digest__in=digests).delete()


class RedisStore:
    def __init__(self, url: str) -> None:
        self.client = _client(url)

    def hit(self, digest: str, *, window: timedelta, now: datetime) -> tuple[int, int]:
        """Return as `DatabaseStore.hit` does; `now` is Redis's own clock."""
        key = _key(digest)
        with self.client.pipeline(transaction=True) as steps:
            steps.set(key, 0, ex=ceil(window.total_seconds()), nx=True)
            steps.incr(key)
            steps.pttl(key)
            _, hits, milliseconds = steps.execute()
        return int(hits), ceil(int(milliseconds) / 1000)

    def take_back(self, digest: str) -> None:
        self.client.eval(COUNT_DOWN, 1, _key(digest))

    def reset(self, digest: str) -> None:
        self.client.delete(_key(digest))


def _key(digest: str) -> str:
    return f"lineup:throttle:{digest}"


@cache
def _client(url: str) -> Redis:
    return Redis.from_url(url, socket_connect_timeout=REDIS_SECONDS, socket_timeout=REDIS_SECONDS)


Store = DatabaseStore | RedisStore

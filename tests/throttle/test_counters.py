import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest
from pytest_django import Settings

from tests.factories import NOON
from tests.servers import spare_port
from tests.together import at_once
from throttle import stores
from throttle.counters import Verdict, hit, reset, take_back
from throttle.models import Count

WINDOW = timedelta(minutes=10)


def come(key: str = "192.0.2.1", *, scope: str = "arrivals", limit: int = 3, after: timedelta = timedelta()) -> Verdict:
    return hit(scope=scope, key=key, limit=limit, window=WINDOW, now=NOON + after)


@pytest.fixture(params=["database", "redis"])
def _each_store(request: pytest.FixtureRequest, settings: Settings, db: None) -> Iterator[None]:
    if request.param == "redis":
        settings.CACHE_URL = request.getfixturevalue("redis_server")
    yield
    if settings.CACHE_URL:
        stores.RedisStore(settings.CACHE_URL).client.flushdb()


@pytest.mark.usefixtures("_each_store")
def test_as_many_as_the_limit_are_allowed_and_the_next_is_told_how_long_to_wait() -> None:
    assert [come().allowed for _ in range(4)] == [True, True, True, False]
    assert 0 < come().retry_after <= 600


@pytest.mark.parametrize(("seconds", "minutes"), [(0, 0), (1, 1), (60, 1), (61, 2), (900, 15)])
def test_people_are_told_whole_minutes(seconds: int, minutes: int) -> None:
    assert Verdict(allowed=not seconds, retry_after=seconds, hits=1).minutes == minutes


@pytest.mark.usefixtures("_each_store")
def test_keys_and_scopes_count_apart_and_a_forgotten_key_starts_anew() -> None:
    for _ in range(4):
        come()
    assert come("192.0.2.2").allowed
    assert come(scope="sign in").allowed
    assert not come().allowed
    reset(scope="arrivals", key="192.0.2.1")
    assert come().allowed


@pytest.mark.usefixtures("_each_store")
def test_a_hit_that_is_given_back_does_not_count_and_giving_back_what_was_never_counted_gains_nothing() -> None:
    take_back(scope="arrivals", key="192.0.2.1")
    assert [come().allowed for _ in range(3)] == [True, True, True]
    take_back(scope="arrivals", key="192.0.2.1")
    assert [come().allowed for _ in range(2)] == [True, False]


@pytest.mark.django_db
def test_a_window_ends_by_itself_however_often_somebody_knocked() -> None:
    for _ in range(30):
        come(after=timedelta(minutes=9))
    assert come(after=timedelta(minutes=10)).retry_after == 540
    assert not come(after=timedelta(minutes=18, seconds=59)).allowed
    assert [come(after=timedelta(minutes=19)).allowed for _ in range(4)] == [True, True, True, False]


def test_a_window_in_redis_ends_by_itself(settings: Settings, redis_server: str) -> None:
    settings.CACHE_URL = redis_server
    come("ends")
    take_back(scope="arrivals", key="ends")
    client = stores.RedisStore(redis_server).client
    assert [0 < client.ttl(key) <= 600 for key in client.keys("lineup:throttle:*")] == [True]
    client.flushdb()


@pytest.mark.django_db
def test_addresses_and_names_are_not_to_be_read_in_the_table() -> None:
    come("192.0.2.1")
    count = Count.objects.get()
    assert "192" not in str(count)
    assert len(count.digest) == 64


@pytest.mark.django_db(transaction=True)
def test_of_forty_at_once_no_more_than_the_limit_are_allowed() -> None:
    verdicts = at_once(*[lambda: come(limit=10)] * 40)
    assert sum(verdict.allowed for verdict in verdicts) == 10


@pytest.mark.django_db
def test_without_redis_the_database_counts_and_the_log_says_so(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.CACHE_URL = f"redis://127.0.0.1:{spare_port()}/0"
    with caplog.at_level(logging.WARNING):
        assert [come().allowed for _ in range(4)] == [True, True, True, False]
    assert "Counting in the database instead." in caplog.text
    assert Count.objects.count() == 1


@pytest.mark.django_db
def test_counts_whose_window_is_over_are_removed_while_new_ones_come() -> None:
    for number in range(1000):
        come(f"invented {number}")
    for number in range(1000):
        come(f"later {number}", after=timedelta(hours=1))
    # The first thousand went at the first sweep of the second thousand.
    assert Count.objects.filter(ends_at__lte=int((NOON + timedelta(hours=1)).timestamp())).count() == 0
    assert Count.objects.count() == 1000


@pytest.mark.django_db
def test_however_many_keys_are_invented_the_rows_are_bounded_and_who_is_attacked_stays_counted(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    # Which new keys sweep depends on the secret: with this one always the same.
    settings.SECRET_KEY = "the secret of this test"
    monkeypatch.setattr(stores, "MOST_ROWS", 500)
    for _ in range(4):
        come("attacked")
    for number in range(3000):
        come(f"invented {number}")
    # Between two sweeps come about 64 new keys.
    assert Count.objects.count() <= 500 + 5 * stores.NEW_KEYS_PER_SWEEP
    assert not come("attacked").allowed

"""A machine whose clock is far from the database's does no work."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import DatabaseError, connection
from django.db.backends.signals import connection_created

from background import clock
from config.outage import is_outage

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.once(on="postgresql", because="an SQLite file has the clock of the machine that it is on"),
]


@pytest.fixture(autouse=True)
def compared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(clock, "_checked_at", None)
    clock.compare_clocks()
    yield
    connection_created.disconnect(dispatch_uid=clock.__name__)


def connect() -> tuple[str, bool]:
    """Open a connection of another thread; return what is wrong, and whether pages call it an outage."""

    def open_and_close() -> tuple[str, bool]:
        try:
            connection.ensure_connection()
        except DatabaseError as error:
            return str(error), is_outage(error)
        finally:
            connection.close()
        return "", False

    with ThreadPoolExecutor(1) as others:
        return others.submit(open_and_close).result()


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (3600, "The clock of this machine is 60 minutes ahead of the database's, so it does no work."),
        (-3600, "The clock of this machine is 60 minutes behind the database's, so it does no work."),
    ],
)
def test_a_clock_that_is_an_hour_off_is_an_outage_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, seconds: int, told: str
) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + seconds)
    assert connect() == (f"{told} Set both clocks by NTP.", True)
    # Until it is right: the next connection is refused too.
    assert connect() == (f"{told} Set both clocks by NTP.", True)
    monkeypatch.undo()
    assert connect() == ("", False)


def test_two_minutes_are_no_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 120)
    assert connect() == ("", False)

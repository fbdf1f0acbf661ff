"""Refuses to work on a machine whose clock differs from the database's.

Machines of one site compare moments that others stored: one that is an hour ahead would end everybody's session, and
release their places.
"""

import time
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

# NTP keeps clocks milliseconds apart; messages of periodic tasks expire after 15 seconds.
MOST_SECONDS = 5
WEB_CHECKED_EVERY_SECONDS = 60
_seconds_between_checks = 0
_checked_at: float | None = None


class WrongClock(psycopg.OperationalError):
    """The clock of this machine differs from the database's."""


def compare_clocks() -> None:
    """Have each new connection to PostgreSQL compare the clocks: Celery opens one for each task."""
    connection_created.connect(_compare, dispatch_uid=__name__)


def compare_once_a_minute() -> None:
    """Skip the comparison for a minute after a good one: somebody waits for the pages of a web process."""
    global _seconds_between_checks
    _seconds_between_checks = WEB_CHECKED_EVERY_SECONDS


def explain_wrong_clock() -> str:
    """Compare the clocks on a connection of its own; return what is wrong, "" if nothing or if the database is away."""
    connection = connections.create_connection(DEFAULT_DB_ALIAS)
    try:
        connection.ensure_connection()
    except OperationalError as error:
        return str(error) if isinstance(error.__cause__, WrongClock) else ""
    finally:
        connection.close()
    return ""


def _compare(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Close the connection and raise WrongClock if the clocks differ: pages then answer 503."""
    global _checked_at
    now = time.monotonic()
    is_database = connection.alias == DEFAULT_DB_ALIAS and connection.vendor == "postgresql"
    if not is_database or (_checked_at is not None and now - _checked_at < _seconds_between_checks):
        return
    # Not one of the request's statements.
    with connection.connection.cursor() as cursor:
        asked_at = time.time()
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        database, told_at = float(cursor.fetchone()[0]), time.time()
    # The database read its clock between the two moments, and a busy one takes its time.
    ahead = max(asked_at - database, 0) + min(told_at - database, 0)
    if abs(ahead) > MOST_SECONDS:
        connection.close()
        raise WrongClock(_describe(ahead))
    _checked_at = now


def _describe(ahead: float) -> str:
    seconds, direction = round(abs(ahead)), "ahead of" if ahead > 0 else "behind"
    difference = f"{seconds} seconds" if seconds < 120 else f"{round(seconds / 60)} minutes"
    return (
        f"The clock of this machine is {difference} {direction} the database's, so it does no work. "
        "Set both clocks by NTP."
    )

"""Refuses to work on a machine whose clock is far from the database's.

Machines of one site compare moments that others stored: one that is an hour ahead would end everybody's session, and
release their places.
"""

import time
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

# As far as Kerberos lets clocks differ; shorter than any lease of a place.
MOST_SECONDS = 5 * 60
CHECKED_EVERY_SECONDS = 60
_checked_at: float | None = None


def compare_clocks() -> None:
    """Have new connections to PostgreSQL compare the clocks, at most once a minute in each process."""
    connection_created.connect(_compare, dispatch_uid=__name__)


def _compare(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Close the connection and raise psycopg.OperationalError if the clocks differ: pages then answer 503."""
    global _checked_at
    now = time.monotonic()
    is_database = connection.alias == DEFAULT_DB_ALIAS and connection.vendor == "postgresql"
    if not is_database or (_checked_at is not None and now - _checked_at < CHECKED_EVERY_SECONDS):
        return
    # Not one of the request's statements.
    with connection.connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        ahead = time.time() - float(cursor.fetchone()[0])
    if abs(ahead) > MOST_SECONDS:
        connection.close()
        raise psycopg.OperationalError(describe(ahead))
    _checked_at = now


def describe(ahead: float) -> str:
    """Return what is wrong, for the log."""
    minutes, direction = round(abs(ahead) / 60), "ahead of" if ahead > 0 else "behind"
    return (
        f"The clock of this machine is {minutes} minutes {direction} the database's, so it does no work. "
        "Set both clocks by NTP."
    )

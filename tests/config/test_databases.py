import pytest
from django.db import connection


def _pragma(name: str) -> object:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        return cursor.fetchone()[0]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("name", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)])
def test_sqlite_writes_ahead_and_waits_for_the_disk(name: str, value: object) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("A promise of the embedded database.")
    assert _pragma(name) == value


@pytest.mark.django_db
def test_the_tests_run_on_the_database_that_was_asked_for(pytestconfig: pytest.Config) -> None:
    assert connection.vendor == pytestconfig.getoption("database")

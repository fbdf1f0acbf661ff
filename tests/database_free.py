"""Pytest plugin: tests that ask for no database are the same on every one, so `make test` runs them once
(`tests/halves.py`).

That they are the same is held to: pytest-django refuses them the database in this process, and here DATABASE_URL names
none while they run, so that a process which they start cannot reach the run's database either. A test of such a process
asks for `db`, or names a database itself.
"""

import os
from collections.abc import Generator

import pytest

# What pytest-django opens the database for; every fixture that needs it depends on one of these.
DATABASE_FIXTURES = {"db", "transactional_db", "live_server", "django_db_setup"}
NO_DATABASE = "none: this test asks for no database"


def asks_for_database(item: pytest.Item) -> bool:
    return (
        item.get_closest_marker("django_db") is not None
        or item.get_closest_marker("browser") is not None
        or not DATABASE_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if asks_for_database(item):
        return (yield)
    # What is put back by hand is one name: to copy the whole environment takes as long as many of these tests.
    before = os.environ.get("DATABASE_URL")
    os.environ["DATABASE_URL"] = NO_DATABASE
    try:
        return (yield)
    finally:
        if before is None:
            del os.environ["DATABASE_URL"]
        else:
            os.environ["DATABASE_URL"] = before

"""Pytest plugin: tests that ask for no database are the same on every one, so `make test` runs them once.

`--only-database` leaves them out; without it everything named is run. That they are the same is held to: pytest-django
refuses them the database in this process, and here DATABASE_URL names none while they run, so that a process which
they start cannot reach the run's database either. A test of such a process asks for `db`, or names a database itself.
"""

import os
from collections.abc import Generator
from typing import Any
from unittest import mock

import pytest

# What pytest-django opens the database for; every fixture that needs it depends on one of these.
DATABASE_FIXTURES = {"db", "transactional_db", "live_server", "django_db_setup"}
NO_DATABASE = "none: this test asks for no database"
_left_out = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--only-database",
        action="store_true",
        help="leave out what asks for no database: make test has run it on SQLite already",
    )


def asks_for_database(item: pytest.Item) -> bool:
    return (
        item.get_closest_marker("django_db") is not None
        or item.get_closest_marker("browser") is not None
        or not DATABASE_FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("only_database"):
        return
    free = [item for item in items if not asks_for_database(item)]
    items[:] = [item for item in items if asks_for_database(item)]
    config.hook.pytest_deselected(items=free)
    config.stash[_left_out] = len(free)
    # Under xdist each worker collects everything; the controller, which speaks, hears it from one of them.
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output["left_out"] = len(free)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[_left_out] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    left_out = config.stash.get(_left_out, 0)
    if left_out:
        terminalreporter.write_line(f"{left_out} tests ask for no database and were left out (--only-database).")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    if asks_for_database(item):
        return (yield)
    with mock.patch.dict(os.environ, DATABASE_URL=NO_DATABASE):
        return (yield)

"""What asks for a database is run on both; everything else once, where no database can be reached."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.database_free import NO_DATABASE, asks_for_database

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def rows(db: None) -> None:
    """A fixture that needs the database, as most do: by way of another one."""


def test_a_test_that_asks_for_no_database_finds_none_named(request: pytest.FixtureRequest) -> None:
    assert not asks_for_database(request.node)
    assert os.environ["DATABASE_URL"] == NO_DATABASE


@pytest.mark.django_db
def test_a_mark_asks_for_the_database(request: pytest.FixtureRequest) -> None:
    assert asks_for_database(request.node)
    assert os.environ["DATABASE_URL"] != NO_DATABASE


@pytest.mark.usefixtures("rows")
def test_a_fixture_of_a_fixture_asks_for_the_database(request: pytest.FixtureRequest) -> None:
    assert asks_for_database(request.node)
    assert os.environ["DATABASE_URL"] != NO_DATABASE


def test_only_what_asks_for_a_database_is_run_when_that_is_wanted_and_the_rest_is_counted() -> None:
    environment = {name: text for name, text in os.environ.items() if not name.startswith(("DJANGO_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "--only-database", __file__]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    assert "test_a_mark_asks_for_the_database" in done.stdout, done.stdout + done.stderr
    assert "test_a_fixture_of_a_fixture_asks_for_the_database" in done.stdout
    assert "test_a_test_that_asks_for_no_database" not in done.stdout
    assert "2 tests ask for no database and were left out (--only-database)." in done.stdout

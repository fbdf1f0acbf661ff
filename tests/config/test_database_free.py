"""What asks for no database is run where none can be reached."""

import os

import pytest

from tests.database_free import NO_DATABASE, asks_for_database


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

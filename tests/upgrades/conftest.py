"""The filled database of an older version, upgraded once for all tests of this folder."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from pytest_django import DjangoDbBlocker, Settings

from tests.databases import connected_to, database, rolled_back
from tests.upgrades.stage import fill, filled, restore_files, upgrade

VERSION = "878c08f"


@pytest.fixture(scope="session")
def upgraded_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """The name of a database filled by the older version and then upgraded. Tests change it only in a transaction that
    is rolled back, or change a copy of it."""
    with django_db_blocker.unblock(), database("upgraded") as name:
        with connected_to(name):
            fill(VERSION)
            upgrade()
        yield name


@pytest.fixture
def upgraded(
    upgraded_database: str, django_db_blocker: DjangoDbBlocker, settings: Settings, tmp_path: Path
) -> Iterator[None]:
    """Stand a few minutes after the upgrade, with the files that were stored before it."""
    restore_files(VERSION, tmp_path / "media")
    settings.MEDIA_ROOT = tmp_path / "media"
    now = datetime.fromisoformat(filled(VERSION)["taken_at"]) + timedelta(minutes=3)
    with django_db_blocker.unblock(), connected_to(upgraded_database), time_machine.travel(now), rolled_back():
        yield

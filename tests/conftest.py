import gc
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pytest_django import DjangoDbBlocker, Settings

if TYPE_CHECKING:
    from tests.databases import Keeper

pytest_plugins = ("tests.services", "tests.database_free", "tests.pages", "tests.halves", "tests.spread")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while everything is imported, nor ever again among what was: it is there to stay, and looking
    through all of it takes longer than most tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _own_media_folder(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _static_files_are_found_when_asked_for(settings: Settings) -> None:
    """Or WhiteNoise lists all of them for every test client, a fifth of what a test of a page takes."""
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(scope="session")
def keeper(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> "Iterator[Keeper]":
    """Return who makes the rows that many tests read (`tests.databases.kept`); they go when the last test has run."""
    from django.test.utils import setup_databases, teardown_databases

    from tests.databases import Keeper

    databases = ExitStack()
    # pytest-django makes the shared database, which the others are copies of, only where a test asks for it by name.
    if not any(asks_for_shared_database(item) for item in request.session.items):
        with django_db_blocker.unblock():
            databases.callback(teardown_databases, setup_databases(verbosity=0, interactive=False), verbosity=0)
    yield Keeper(tmp_path_factory.mktemp("kept"), databases)
    with django_db_blocker.unblock():
        databases.close()


def asks_for_shared_database(item: pytest.Item) -> bool:
    return item.get_closest_marker("django_db") is not None or not {"db", "transactional_db", "live_server"}.isdisjoint(
        getattr(item, "fixturenames", ())
    )

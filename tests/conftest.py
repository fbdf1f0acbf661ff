import gc
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pytest_django import DjangoDbBlocker, Settings

if TYPE_CHECKING:
    from tests.databases import Keeper

pytest_plugins = ("tests.services", "tests.database_free", "tests.halves")


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
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[Keeper]":
    """Return who makes the rows that many tests read (`tests.databases.kept`); they go when the last test has run."""
    from tests.databases import Keeper

    databases = ExitStack()
    yield Keeper(tmp_path_factory.mktemp("kept"), databases)
    with django_db_blocker.unblock():
        databases.close()

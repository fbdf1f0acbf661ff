import gc
import os
import shutil
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker

if TYPE_CHECKING:
    from tests.databases import Keeper

pytest_plugins = ("tests.services", "tests.database_free", "tests.homes", "tests.halves", "tests.spread")
ROOT = Path(__file__).resolve().parents[1]
# What make test leaves out, since it needs torch.
OUTSIDE = ROOT / "tests" / "models"
# A busy machine is slow, not wrong.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Look for no garbage while everything is imported, nor ever again among what was: it is there to stay, and looking
    through all of it takes longer than most tests."""
    gc.disable()
    try:
        if worker := os.environ.get("PYTEST_XDIST_WORKER"):
            folders = [Path(argument) for argument in session.config.args]
            import_share(folders, int(worker.removeprefix("gw")), of=int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def import_share(folders: Iterable[Path], number: int, *, of: int) -> None:
    """Import one of `of` shares of the tests before all of them are looked for: in a fresh clone each worker compiles
    its own share and reads what the others have compiled, instead of compiling everything at the same time as they."""
    files = sorted(file for folder in folders for file in folder.resolve().rglob("test_*.py"))
    for file in [file for file in files if not file.is_relative_to(OUTSIDE)][number::of]:
        # A file that cannot be imported is named when it is looked for.
        with suppress(Exception):
            import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))


@pytest.fixture(scope="session", autouse=True)
def _settings_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What is otherwise in all tests; yields the folder of media files. Not set for each of them, which takes longer
    than many a test."""
    from django.db.backends.signals import connection_created
    from django.test import override_settings

    # Tests travel in time, and open connections there.
    connection_created.disconnect(dispatch_uid="background.clock")
    media = tmp_path_factory.mktemp("of all tests") / "media"
    quick = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Tests answer in no time, and from one network: those about either switch it on.
    # Static files are found when they are asked for, or WhiteNoise lists all of them for every test client, a fifth of
    # what a test of a page takes.
    unlimited = {"CHECK_TIMES": False, "PLACES_PER_NETWORK": 0}
    with override_settings(MEDIA_ROOT=media, PASSWORD_HASHERS=quick, WHITENOISE_AUTOREFRESH=True, **unlimited):
        yield media


@pytest.fixture(autouse=True)
def _no_media_of_others(_settings_of_tests: Path) -> Iterator[None]:
    yield
    if _settings_of_tests.exists():
        shutil.rmtree(_settings_of_tests)


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Make the database that the tests of one worker share: migrated by the first who needs one, copied by the others,
    since going through all migrations takes ten seconds."""
    from django.contrib.contenttypes.management import create_contenttypes
    from django.db.models.signals import post_migrate
    from django.test.utils import setup_databases, teardown_databases

    from tests.databases import delete_rows_to_empty_tables, end_other_sessions, migrated_once

    # Nobody's rights rest on Django's own permissions, and Django's list of models is written to where it is read.
    # Whoever empties the database would make both anew, which takes longer than the rest of most tests.
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)
    with django_db_blocker.unblock(), migrated_once():
        made = setup_databases(verbosity=0, interactive=False, keepdb=True)
        delete_rows_to_empty_tables()
    yield
    with django_db_blocker.unblock():
        left = end_other_sessions()
        teardown_databases(made, verbosity=0)
    assert not left, f"A test has left a connection to the database open. Its last statement: {left}"


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


@pytest.fixture
def empty_database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Stand in a database without tables, for migrations to begin in."""
    from tests.databases import connected_to, database

    with django_db_blocker.unblock(), database("empty") as name, connected_to(name):
        yield

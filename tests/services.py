"""Pytest plugin: what the tests run on, and the folder that they may write to, decided before Django's settings load.

`--database=postgresql` starts a real server for the run; under xdist the controller does, and its workers share it.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import django
import pytest

from tests.servers import postgresql_cluster, redis_process

# What somebody has set in their shell for their own site must not reach the tests.
SETTINGS_OF_SITES = (
    *("ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "CELERY_BROKER_URL", "DEBUG", "HTTPS", "BEHIND_PROXY", "HSTS_SECONDS"),
    *("SECRET_KEY", "SECRET_KEY_FILE", "DATABASE_URL_FILE", "MEDIA_ROOT", "SITE_URL", "IMAGE_MAX_PIXELS"),
    *("DATABASE_CONNECTION_SECONDS", "CELERY_BROKER_URL_FILE", "CACHE_URL", "CACHE_URL_FILE"),
    *("TRUSTED_PROXIES", "TRUSTED_PROXIES_FILE", "LINEUP_WORKER_TOKEN", "LINEUP_WORKER_TOKEN_FILE", "LINEUP_IMAGES"),
    "MODELS_OFFERED",
)
_running = ExitStack()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--database", choices=("sqlite", "postgresql"), default="sqlite", help="the database that the tests run on"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Name the settings here and not in pyproject.toml, where pytest-django would find and load them too early."""
    if "DJANGO_SETTINGS_MODULE" in os.environ:
        raise pytest.UsageError("DJANGO_SETTINGS_MODULE is set. Unset it: the tests choose their own settings.")
    prepare_environment(config.getoption("database"))
    # The controller of xdist runs no test; what it set here, its workers would find too early.
    if not config.getoption("numprocesses", None):
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        django.setup()


def prepare_environment(database: str) -> None:
    for name in SETTINGS_OF_SITES:
        os.environ.pop(name, None)
    folder = Path(tempfile.mkdtemp(prefix="lineup-tests-"))
    _running.callback(shutil.rmtree, folder, ignore_errors=True)
    (folder / "staticfiles").mkdir()
    # The controller's: what its workers make once for all of them.
    os.environ.setdefault("TESTS_TOGETHER", str(folder))
    os.environ["DATA_DIR"] = str(folder)
    os.environ["STATIC_ROOT"] = str(folder / "staticfiles")
    os.environ["STATIC_WITHOUT_COLLECT"] = "1"
    # A file, so that threads and processes of one test meet in one database, as they do on a real site.
    os.environ["TEST_SQLITE_FILE"] = str(folder / "tests.sqlite3")
    if database == "sqlite":
        os.environ["DATABASE_URL"] = f"sqlite:///{folder / 'db.sqlite3'}"
    elif "PYTEST_XDIST_WORKER" not in os.environ:
        os.environ["DATABASE_URL"] = _running.enter_context(postgresql_cluster()).url("lineup")


def pytest_unconfigure() -> None:
    _running.close()


def pytest_report_header(config: pytest.Config) -> str:
    return f"database: {config.getoption('database')}"


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """The address of a real Redis server, as CELERY_BROKER_URL wants it."""
    with redis_process() as url:
        yield url

"""Pytest plugin: what the tests run on, and the folder that they may write to, decided before Django's settings load.

`--database=postgresql` starts a real server for the run; under xdist the controller does, and its workers share it.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import django
import pytest

from tests.servers import postgresql_cluster, redis_process

# What somebody has set in their shell for their own site must not reach the tests.
SETTINGS_OF_SITES = (
    *("ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "CELERY_BROKER_URL", "DEBUG", "HTTPS", "BEHIND_PROXY", "HSTS_SECONDS"),
    *("SECRET_KEY", "SECRET_KEY_FILE", "DATABASE_URL_FILE", "MEDIA_ROOT", "SITE_URL", "IMAGE_MAX_PIXELS"),
    *("DATABASE_CONNECTION_SECONDS", "DATABASE_POOLED", "DATABASE_REPLICA_URL", "DATABASE_REPLICA_SECONDS"),
    *("CELERY_BROKER_URL_FILE", "CACHE_URL", "CACHE_URL_FILE"),
    *("TRUSTED_PROXIES", "TRUSTED_PROXIES_FILE", "LINEUP_WORKER_TOKEN", "LINEUP_WORKER_TOKEN_FILE", "LINEUP_IMAGES"),
    "MODELS_OFFERED",
)
# A file system in memory, and how much must be free there, and of the memory, for the files of a run of everything.
MEMORY = Path("/dev/shm")  # noqa: S108 (where Linux has it; a folder of its own is made there)
ROOM = 4 * 2**30
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
    # The controller of xdist runs no test; what it set here, its workers would find too early.
    controls = bool(config.getoption("numprocesses", None))
    if controls and "TMPDIR" not in os.environ:
        _running.enter_context(files_in_memory(MEMORY))
    prepare_environment(config.getoption("database"))
    if not controls:
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        django.setup()


@contextmanager
def files_in_memory(memory: Path) -> Iterator[None]:
    """Have temporary files, those of workers too, be written to `memory` where it has room, and go with the run: each
    of some thousand tests has folders of its own, and on a disk they take a tenth of all processor time.

    One test alone writes to the disk, where what it wrote can be looked at.
    """
    if not (memory.is_dir() and min(shutil.disk_usage(memory).free, _memory_free()) >= ROOM):
        yield
        return
    folder = Path(tempfile.mkdtemp(prefix=f"lineup-tests-{os.getpid()}-", dir=memory))
    # PostgreSQL's account goes through it to a folder of its own.
    folder.chmod(0o711)
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before
        del os.environ["TMPDIR"]
        shutil.rmtree(folder, ignore_errors=True)


def _memory_free() -> int:
    """Return how many bytes of memory programs may still have, 0 where the system does not say."""
    try:
        said = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", said, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


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

"""A real Celery worker process on the database of the running test."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection

from tests.processes import running

# What carries the messages of workers that tests run: each on the database that it goes with on a real site. What is
# carried has no database in it, and what is stored of it no broker.
_BECAUSE = "a site on one machine has files and SQLite, a larger one Redis and PostgreSQL"
BROKERS = (
    pytest.param("files", marks=pytest.mark.once(on="sqlite", because=_BECAUSE)),
    pytest.param("redis", marks=pytest.mark.once(on="postgresql", because=_BECAUSE)),
)


def database_url(name: str = "") -> str:
    """Return the address of the database that the tests run on, or of the one called `name` beside it, as DATABASE_URL
    wants it."""
    path = f"/{name or connection.settings_dict['NAME']}"
    if connection.vendor == "sqlite":
        return f"sqlite://{path}"
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=path).geturl()


def site_environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the environment of a process that shares the test's database and images, with `folder` for its data."""
    return os.environ | {
        "DATABASE_URL": database_url(),
        "DATA_DIR": str(folder),
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
        "SECRET_KEY": settings.SECRET_KEY,
        **more,
    }


@contextmanager
def celery_worker(
    *, folder: Path, broker_url: str, queue: str = "default", include: Sequence[str] = (), **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker for the length of the block; its log is `folder`/worker.log."""
    command = [sys.executable, "-m", "celery", "-A", "config", "worker", "--concurrency", "1", "--queues", queue]
    with running(
        [*command, "--loglevel", "INFO", *(f"--include={module}" for module in include)],
        environment=site_environment(folder, CELERY_BROKER_URL=broker_url, **environment),
        log=folder / "worker.log",
    ) as process:
        yield process

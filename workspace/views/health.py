"""Health checks for load balancers: `/healthz` (the process answers), `/readyz` (it can do its work)."""

import logging
import time
import uuid
from collections.abc import Callable
from functools import lru_cache

from celery import current_app
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

FINE = "ok"
BROKER_SECONDS = 2


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": FINE})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 503 if a part fails that every page needs. The broker is only reported: pages work without it."""
    tried = {name: _check_part(check) for name, check in (NEEDED | {"broker": _broker}).items()}
    fails = [f"{name}: {reason}" for name, (state, reason) in tried.items() if state != FINE]
    if fails:
        # Errors go to the log, not into the public response.
        logger.error("readyz: %s", "; ".join(fails))
    parts = {name: state for name, (state, _) in tried.items()}
    ready = all(parts[name] == FINE for name in NEEDED)
    return JsonResponse({"status": FINE if ready else "failing", **parts}, status=200 if ready else 503)


def _check_part(check: Callable[[], str]) -> tuple[str, str]:
    """Return the state of a part, and its log line."""
    try:
        state = check()
    except (DatabaseError, OSError, OperationalError) as error:
        return "failing", str(error).partition("\n")[0]
    return state, state


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return FINE


def _migrations() -> str:
    if connection.connection is None or not connection.is_usable():
        return "unknown: the database does not answer"
    executor = MigrationExecutor(connection)
    unapplied = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(unapplied)} migrations are not applied: run `manage.py migrate`" if unapplied else FINE


def _storage() -> str:
    return _check_write(minute=int(time.monotonic() // 60))


@lru_cache(maxsize=1)
def _check_write(*, minute: int) -> str:
    """Write a file, successfully at most once a minute per process: anybody may ask, and often."""
    name = default_storage.save(f"probes/{uuid.uuid4()}", ContentFile(b"probe"))
    default_storage.delete(name)
    return FINE


def _broker() -> str:
    with current_app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
    return FINE


NEEDED = {"database": _database, "migrations": _migrations, "storage": _storage}

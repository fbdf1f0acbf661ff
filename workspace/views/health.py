"""`/healthz`: this process answers. `/readyz`: it can also do its work; for load balancers and people on call."""

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
    """503 when a part fails that every page needs. The broker is only reported: pages work without it."""
    tried = {name: _tried(check) for name, check in (NEEDED | {"broker": _broker}).items()}
    fails = [f"{name}: {reason}" for name, (state, reason) in tried.items() if state != FINE]
    if fails:
        # The log gets the errors; the answer, which anybody may read, does not.
        logger.error("readyz: %s", "; ".join(fails))
    parts = {name: state for name, (state, _) in tried.items()}
    ready = all(parts[name] == FINE for name in NEEDED)
    return JsonResponse({"status": FINE if ready else "failing", **parts}, status=200 if ready else 503)


def _tried(check: Callable[[], str]) -> tuple[str, str]:
    """Return the state of a part, and what the log says of it."""
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
    return _written(minute=int(time.monotonic() // 60))


@lru_cache(maxsize=1)
def _written(*, minute: int) -> str:
    """Try it by writing, as long as it goes well once a minute in each process: anybody may ask, and often."""
    name = default_storage.save(f"probes/{uuid.uuid4()}", ContentFile(b"probe"))
    default_storage.delete(name)
    return FINE


def _broker() -> str:
    with current_app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
    return FINE


NEEDED = {"database": _database, "migrations": _migrations, "storage": _storage}

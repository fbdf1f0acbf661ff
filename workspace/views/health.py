"""Health checks for load balancers: `/healthz` (the process answers), `/readyz` (it can do its work)."""

import logging
import time
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

from annotation.models import Annotator
from background.sealed_secrets import CannotUnseal
from studies.actions.images import original_name
from studies.actions.stored_files import save_whole
from studies.models import InstanceImage

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
    """Answer 503 if a part fails that every page needs. The others are only reported."""
    tried = {name: _check_part(check) for name, check in (NEEDED | REPORTED).items()}
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
    name = save_whole("probes/probe", ContentFile(b"probe"))
    default_storage.delete(name)
    return FINE


def _broker() -> str:
    with current_app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
    return FINE


def _keys() -> str:
    """Compare this machine's keys with those that stored the last annotator: another machine's may differ."""
    last = Annotator.objects.exclude(sealed_id="").order_by("-pk").first()
    try:
        if last is not None:
            last.open_id()
    except CannotUnseal:
        return "other keys than those of the stored ids: use the same SECRET_KEY and ENCRYPTION_KEYS on all machines"
    return FINE


def _images() -> str:
    """Look for the file of the last image that was imported: another machine may have another folder."""
    last = InstanceImage.objects.exclude(image=None).order_by("-pk").first()
    if last is not None and not default_storage.exists(original_name(str(last.image_id))):
        return "the last image is missing: use the same MEDIA_ROOT on all machines"
    return FINE


NEEDED = {"database": _database, "migrations": _migrations, "storage": _storage}
# Pages work without a broker. A site whose keys or images are lost must stay reachable, too.
REPORTED = {"broker": _broker, "keys": _keys, "images": _images}

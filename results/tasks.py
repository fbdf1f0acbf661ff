"""Work in the background. A task takes ids and calls one action; run twice, it does what it does once."""

from collections.abc import Callable
from typing import Any

from celery import shared_task
from django.utils import timezone

from results.actions import exports
from results.models import Export

SOFT_LIMIT_SECONDS = 1800


def background(name: str) -> Callable[[Callable[..., None]], Any]:
    """Make a function a task of this app, with its limits; the queue is named in the routes of Celery's settings."""
    return shared_task(
        name=f"results.{name}",
        acks_late=True,
        soft_time_limit=SOFT_LIMIT_SECONDS,
        time_limit=SOFT_LIMIT_SECONDS + 60,
    )


@background("make_export")
def make_export(export_id: int) -> None:
    exports.make_export(export=Export.objects.select_related("study__project").get(pk=export_id), now=timezone.now)

"""Celery tasks about candidates: store what workers with models made, and send lost messages again."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone

from background.decorator import task
from background.tasks import send
from making.actions import batches
from making.actions.pipelines import continue_pipeline, next_round, waiting_for_people
from making.messages import BEGUN, MADE
from making.models import Pipeline


@task(name=BEGUN, minutes=5)
def note_begun_batch(batch: int) -> None:
    batches.note_begun(batch_id=batch, now=timezone.now())


@task(name=MADE, minutes=10)
def store_batch(batch: int, answer: Mapping[str, Any]) -> None:
    now = timezone.now()
    pipeline = batches.store(batch_id=batch, answer=answer, now=now)
    if pipeline is not None:
        _go_on(pipeline, now)


@task(name="making.send_again", minutes=10)
def send_again() -> None:
    """Send lost messages again; continue pipelines after the last answer of a worker, and after people decided."""
    now = timezone.now()
    for pipeline in batches.stalled(now=now):
        _go_on(pipeline, now)
    for pipeline in waiting_for_people():
        if (job := next_round(pipeline_id=pipeline.pk, now=now)) is not None:
            send(job)


def _go_on(pipeline: Pipeline, now: datetime) -> None:
    if batches.open_batches(pipeline).exists():
        batches.send_due(pipeline.pk, now)
    elif (job := continue_pipeline(pipeline_id=pipeline.pk, now=now)) is not None:
        send(job)

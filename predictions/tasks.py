"""Celery tasks about models: send messages to workers with models, and store their answers.

Each task calls one action; a repeated answer changes nothing. Messages due are in the database: lost ones are sent
again periodically.
"""

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from background.decorator import task
from background.tasks import send
from predictions.actions import blind, duplicates, runs, store_scores, vectors
from predictions.blind_baselines import fitted_baseline
from predictions.messages import BEGUN, EMBED, EMBEDDED, GPU, LOAD, LOADED, SCORE, STORE, UNREACHABLE
from predictions.models import Chunk, Run

logger = logging.getLogger(__name__)


def send_to_worker(run: Run) -> None:
    """Send what is due of a run to a worker after this transaction."""
    transaction.on_commit(partial(send_due, run.pk))


def send_due(run_id: int, *, now: datetime | None = None) -> None:
    """Send what is due of a run, now or as of `now`."""
    due = runs.due(run_id=run_id, now=now or timezone.now())
    if due.load is not None:
        _send_load(due.load)
    _send_chunks(due.chunks)


def _send_load(run: Run) -> None:
    baseline = fitted_baseline(run.spec)
    if baseline is not None and not baseline.model:
        fit.send((run.pk,), expires=runs.LOST_AFTER.total_seconds())
    else:
        _send(LOAD, run=run.pk, spec=run.spec if baseline is None else baseline.model)


def _send_chunks(chunks: Iterable[Chunk]) -> None:
    for chunk in chunks:
        run, baseline = chunk.run, fitted_baseline(chunk.run.spec)
        if baseline is None:
            _send(SCORE, run=run.pk, chunk=chunk.pk, spec=run.spec, items=runs.items_of(chunk=chunk))
        elif chunk.pictures:
            _send(EMBED, run=run.pk, chunk=chunk.pk, spec=baseline.model, pictures=chunk.pictures)
        else:
            score_blind.send((run.pk, chunk.pk), expires=runs.LOST_AFTER.total_seconds())


def _send(name: str, **content: Any) -> None:
    """Send a message that expires when it would be sent again."""
    try:
        current_app.send_task(name, kwargs=content, queue=GPU, expires=runs.LOST_AFTER.total_seconds())
    except OperationalError as error:
        logger.error("Cannot reach the broker (%s is sent again later): %s", name, error)


@task(name=BEGUN, minutes=5)
def note_begun_chunk(run: int, chunk: int) -> None:
    store_scores.note_begun(run_id=run, chunk_id=chunk)


@task(name=LOADED, minutes=30)
def plan_run(run: int, answer: Mapping[str, Any]) -> None:
    spec = Run.objects.filter(pk=run).values_list("spec", flat=True).first()
    begin = store_scores.plan if fitted_baseline(spec or "") is None else blind.begin_with_vectors
    begin(run_id=run, answer=answer, now=timezone.now())
    send_due(run)


@task(name=STORE, minutes=10)
def store(run: int, chunk: int, answer: Mapping[str, Any]) -> None:
    store_scores.store(run_id=run, chunk_id=chunk, answer=answer, now=timezone.now())
    send_due(run)


@task(name=EMBEDDED, minutes=10)
def store_vectors(run: int, chunk: int, answer: Mapping[str, Any]) -> None:
    vectors.keep(run_id=run, chunk_id=chunk, answer=answer, now=timezone.now())
    send_due(run)


@task(name=UNREACHABLE, minutes=5)
def pictures_unreachable(run: int, chunk: int, why: str) -> None:
    pause = store_scores.note_unreachable(run_id=run, chunk_id=chunk, why=why, now=timezone.now())
    if pause is not None:
        send_after_pause.send((run,), countdown=pause.total_seconds() + 1)


@task(name="predictions.send_after_pause", minutes=5)
def send_after_pause(run: int) -> None:
    send_due(run)


@task(name="predictions.fit", minutes=10)
def fit(run: int) -> None:
    """Begin a run of a fitted blind baseline on the site, which knows the right answers."""
    blind.begin(run_id=run, now=timezone.now())
    send_due(run)


@task(name="predictions.score_blind", minutes=10)
def score_blind(run: int, chunk: int) -> None:
    blind.score(chunk_id=chunk, now=timezone.now())
    send_due(run)


@task(name="predictions.look_for_near_duplicates", minutes=5)
def look_for_near_duplicates() -> None:
    """Compare new images with others in the background, so that imports do not wait."""
    for job in duplicates.look_for_new(now=timezone.now()):
        send(job)


@task(name="predictions.send_again", minutes=10)
def send_again() -> None:
    """Send lost messages again, in either direction."""
    now = timezone.now()
    for run in runs.overdue_runs(now=now):
        send_due(run.pk)

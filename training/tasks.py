"""Celery tasks about training: store what workers report, and ask again when one was lost."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from background.decorator import task
from background.tasks import send
from training.actions import deletion, examples, orders, runs
from training.messages import BEAT, DISCARDED, PROGRESS, TRAINED


@task(name=BEAT, minutes=5)
def note_beat(run: int, attempt: int) -> None:
    orders.note_beat(run_id=run, attempt=attempt, now=timezone.now())


@task(name=PROGRESS, minutes=5)
def note_progress(run: int, attempt: int, report: Mapping[str, Any]) -> None:
    orders.note_progress(run_id=run, attempt=attempt, report=report, now=timezone.now())


@task(name=TRAINED, minutes=5)
def note_trained(run: int, attempt: int, answer: Mapping[str, Any]) -> None:
    orders.note_trained(run_id=run, attempt=attempt, answer=answer, now=timezone.now())


@task(name="training.send", minutes=5)
def send_order(run: int) -> None:
    """Ask a worker to train, after the transaction that lets it."""
    orders.send_due(run_id=run, now=timezone.now())


@task(name="training.send_again", minutes=10)
def send_again() -> None:
    """Ask again where a message or a worker was lost, after examples of people who withdrew are read again."""
    now = timezone.now()
    for job in runs.read_again(now=now):
        send(job)
    for run in orders.silent_runs(now=now):
        orders.send_due(run_id=run.pk, now=now)


@task(name="training.discard_examples", minutes=10)
def discard_examples() -> None:
    examples.discard_old(now=timezone.now())
    examples.discard_orphans()


@task(name="training.ask_to_discard", minutes=5)
def ask_to_discard() -> None:
    """Ask workers to delete the weights and checkpoints of deleted runs."""
    deletion.ask_to_discard(now=timezone.now())


@task(name=DISCARDED, minutes=5)
def note_discarded(folder: str) -> None:
    deletion.note_discarded(folder=folder)

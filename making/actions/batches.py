"""Batches of a stage that workers with models make: plan them, send what is due, store answers once.

An answer may come twice, late, or after the pipeline was cancelled.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from kombu.exceptions import OperationalError

from background.work import RunningJob
from making.actions.progress import step_of
from making.actions.stages import StageRun
from making.messages import MAKE, from_requests, to_results
from making.models import Batch, Candidate, Pipeline
from making.pipeline_file import read_pipeline
from predictions.messages import GPU

# Candidates in one message: enough for a worker to load its model for, few enough for the broker to carry images.
PER_BATCH = 16
WINDOW = 4
LOST_AFTER = timedelta(minutes=20)
MOST_BEGUN = 5
LOST_TOO_OFTEN = (
    f"A worker began a batch {MOST_BEGUN} times and was lost each time. Check its log; its machine may be short of "
    "memory."
)


def worker_is_done(job: RunningJob, run: StageRun) -> bool:
    """Plan the next batches of a stage, and send what is due; return whether all of them are stored."""
    pipeline, stage = run.pipeline, run.stage
    with transaction.atomic():
        last = pipeline.batches.filter(stage=stage.name).order_by("number").last()
        unread = run.parents() if last is None else run.parents().filter(pk__gt=last.parents[-1])
        parents = list(unread.values_list("pk", flat=True))
        size, first = max(1, PER_BATCH // stage.count), 1 if last is None else last.number + 1
        Batch.objects.bulk_create(
            Batch(pipeline=pipeline, stage=stage.name, number=number, parents=parents[start : start + size])
            for number, start in enumerate(range(0, len(parents), size), start=first)
        )
        is_done = not open_batches(pipeline).exists()
        # Messages that a cancelled or failed pipeline had sent may be answered still; the others are sent again.
        Pipeline.objects.filter(pk=pipeline.pk).update(waits_for="" if is_done else stage.name)
        job.advance(step=step_of(job, stage.name))
        if not is_done:
            transaction.on_commit(partial(send_due, pipeline.pk, job.now()))
    return is_done


def open_batches(pipeline: Pipeline) -> QuerySet[Batch]:
    """Return the batches that are not stored yet."""
    return pipeline.batches.filter(stored_at=None)


def send_due(pipeline_id: int, now: datetime) -> None:
    """Send the batches that are due: the next ones, and those whose worker or message was lost."""
    for batch in _due(pipeline_id, now):
        wanted = read_pipeline(batch.pipeline.source)
        stage = next(stage for stage in wanted.stages if stage.name == batch.stage)
        requests = StageRun(batch.pipeline, wanted, stage, now).requests(_parents(batch))
        content = {"batch": batch.pk, "maker": stage.make, "options": stage.maker.model_dump(mode="json")}
        try:
            current_app.send_task(
                MAKE,
                kwargs=content | {"requests": from_requests(requests)},
                queue=GPU,
                expires=LOST_AFTER.total_seconds(),
            )
        except OperationalError:
            # It is sent again later.
            Batch.objects.filter(pk=batch.pk, stored_at=None).update(sent_at=None)


@transaction.atomic
def _due(pipeline_id: int, now: datetime) -> Sequence[Batch]:
    pipeline = _lock(pipeline_id)
    if pipeline is None or not pipeline.waits_for or pipeline.error or pipeline.stopped_at is not None:
        return []
    waiting = open_batches(pipeline).select_related("pipeline__project")
    lost = waiting.filter(sent_at__lt=now - LOST_AFTER)
    if lost.filter(begun__gte=MOST_BEGUN).exists():
        Pipeline.objects.filter(pk=pipeline.pk).update(error=LOST_TOO_OFTEN)
        return []
    with_workers = waiting.filter(sent_at__gte=now - LOST_AFTER).count()
    due = [*lost, *waiting.filter(sent_at=None)[: max(0, WINDOW - with_workers)]]
    Batch.objects.filter(pk__in=[batch.pk for batch in due]).update(sent_at=now)
    return due


def _lock(pipeline_id: int) -> Pipeline | None:
    return Pipeline.objects.select_for_update(of=("self",)).filter(pk=pipeline_id).first()


def _parents(batch: Batch) -> list[Candidate]:
    return list(Candidate.objects.filter(pk__in=batch.parents).order_by("pk"))


def note_begun(*, batch_id: int) -> None:
    """Record that a worker has begun a batch."""
    Batch.objects.filter(pk=batch_id, stored_at=None).update(begun=F("begun") + 1)


def store(*, batch_id: int, answer: Mapping[str, Any], now: datetime) -> Pipeline | None:
    """Store the answer to a batch, once; return its pipeline if that goes on, None if there is nothing to do."""
    batch = Batch.objects.filter(pk=batch_id, stored_at=None).select_related("pipeline__project").first()
    if batch is None:
        return None
    pipeline = batch.pipeline
    if "error" in answer:
        Pipeline.objects.filter(pk=pipeline.pk, finished_at=None).update(error=answer["error"])
        Batch.objects.filter(pk=batch_id, stored_at=None).update(sent_at=None, begun=0)
        return None
    identity, results = to_results(answer)
    wanted = read_pipeline(pipeline.source)
    stage = next(stage for stage in wanted.stages if stage.name == batch.stage)
    run = StageRun(pipeline, wanted, stage, now)
    with transaction.atomic():
        # Locked: of two answers to one batch the second finds it stored.
        locked = Batch.objects.select_for_update(of=("self",)).filter(pk=batch_id, stored_at=None).first()
        if locked is None:
            return None
        made = run.candidates(run.used_maker(identity), _parents(batch), results)
        if run.filters:
            run.filter(made, run.known_texts())
        Candidate.objects.bulk_create(made)
        Batch.objects.filter(pk=batch_id).update(stored_at=now)
    return pipeline


def stalled(*, now: datetime) -> QuerySet[Pipeline]:
    """Return pipelines that wait for workers, and whose messages, or the job after the last answer, may be lost."""
    unstored = Batch.objects.filter(pipeline=OuterRef("pk"), stored_at=None)
    due = unstored.filter(Q(sent_at=None) | Q(sent_at__lt=now - LOST_AFTER))
    waiting = Pipeline.objects.filter(error="", stopped_at=None, finished_at=None).exclude(waits_for="")
    return waiting.filter(Exists(due) | ~Exists(unstored)).order_by("pk")

"""Batches of candidates that workers with models make or judge: plan them, send what is due, store answers once.

An answer may come twice, late, or after the pipeline was cancelled.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from celery import current_app
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from kombu.exceptions import OperationalError

from background.work import RunningJob
from making.actions.progress import phase_of, step_of
from making.actions.stages import StageRun, note_verdicts, save_verdicts
from making.errors import CannotStore
from making.filters import ModelFilter
from making.messages import (
    JUDGE,
    MAKE,
    BadAnswer,
    check_results,
    from_candidates,
    from_requests,
    to_lost_tokens,
    to_results,
    to_verdicts,
)
from making.models import Batch, Candidate, Pipeline
from making.pipeline_file import read_pipeline
from predictions.messages import GPU
from predictions.scorers.batches import in_batches

# Candidates in one message: enough for a worker to load its model for, few enough for the broker to carry images.
PER_BATCH = 16
# To judge candidates costs less, and no images travel.
JUDGED_PER_BATCH = 100
WINDOW = 4
LOST_AFTER = timedelta(minutes=20)
MOST_BEGUN = 5
LOST_TOO_OFTEN = (
    f"A worker began a batch {MOST_BEGUN} times and was lost each time. Check its log; its machine may be short of "
    "memory."
)


def worker_is_done(job: RunningJob, run: StageRun, filter_number: int = 0) -> bool:
    """Plan the next batches of a stage, or of one of its filters, and send what is due; tell if all are stored."""
    pipeline, stage = run.pipeline, run.stage
    candidates = run.waiting() if filter_number else run.parents()
    size = JUDGED_PER_BATCH if filter_number else max(1, PER_BATCH // stage.count)
    with transaction.atomic():
        planned = pipeline.batches.filter(stage=stage.name, filter_number=filter_number)
        last = planned.order_by("number").last()
        unread = candidates if last is None else candidates.filter(pk__gt=last.parents[-1])
        batches = in_batches(unread.values_list("pk", flat=True), size)
        Batch.objects.bulk_create(
            Batch(pipeline=pipeline, stage=stage.name, filter_number=filter_number, number=number, parents=parents)
            for number, parents in enumerate(batches, start=1 if last is None else last.number + 1)
        )
        is_done = not open_batches(pipeline).exists()
        # Messages that a cancelled or failed pipeline had sent may be answered still; the others are sent again.
        Pipeline.objects.filter(pk=pipeline.pk).update(waits_for="" if is_done else stage.name)
        job.advance(step=step_of(job, phase_of(stage, filter_number)))
        if not is_done:
            transaction.on_commit(partial(send_due, pipeline.pk, job.now()))
    return is_done


def open_batches(pipeline: Pipeline) -> QuerySet[Batch]:
    """Return the batches that are not stored yet."""
    return pipeline.batches.filter(stored_at=None)


def send_due(pipeline_id: int, now: datetime) -> None:
    """Send the batches that are due: the next ones, and those whose worker or message was lost."""
    for batch in _due(pipeline_id, now):
        task, content = _message(batch, now)
        try:
            current_app.send_task(
                task, kwargs={"batch": batch.pk} | content, queue=GPU, expires=LOST_AFTER.total_seconds()
            )
        except OperationalError:
            # It is sent again later.
            Batch.objects.filter(pk=batch.pk, stored_at=None).update(sent_at=None)


def _message(batch: Batch, now: datetime) -> tuple[str, dict[str, Any]]:
    """Return the task of a batch, and what it is told."""
    run, candidates = _run_of(batch, now), _candidates(batch)
    if not batch.filter_number:
        maker, requests = run.stage.maker, run.requests(candidates)
        told = {"maker": run.stage.make, "options": maker.model_dump(mode="json")}
        return MAKE, told | {"requests": from_requests(requests)}
    _, judge = run.filters[batch.filter_number - 1]
    role = judge.rival_role if isinstance(judge, ModelFilter) else ""
    told = {
        "filter": run.stage.filters[batch.filter_number - 1]["filter"],
        "options": judge.model_dump(mode="json"),
    }
    return JUDGE, told | {"candidates": from_candidates(run.inputs(candidates, rival_role=role))}


def _run_of(batch: Batch, now: datetime) -> StageRun:
    wanted = read_pipeline(batch.pipeline.source)
    stage = next(stage for stage in wanted.stages if stage.name == batch.stage)
    return StageRun(batch.pipeline, wanted, stage, now)


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
    """Lock a pipeline until the transaction ends: before its batches, or two transactions wait for each other."""
    # Not its key: rows that refer to it may be written meanwhile.
    return Pipeline.objects.select_for_update(of=("self",), no_key=True).filter(pk=pipeline_id).first()


def _candidates(batch: Batch) -> list[Candidate]:
    """Return the candidates of a batch with their parents and starts, in their order."""
    found = Candidate.objects.filter(pk__in=batch.parents).select_related("parent", "start")
    return list(found.order_by("pk"))


def note_begun(*, batch_id: int, now: datetime) -> None:
    """Record that a worker has begun a batch, which counts as lost so long after that."""
    Batch.objects.filter(pk=batch_id, stored_at=None).exclude(sent_at=None).update(begun=F("begun") + 1, sent_at=now)


def store(*, batch_id: int, answer: Mapping[str, Any], now: datetime) -> Pipeline | None:
    """Store the answer to a batch, once; return its pipeline if that goes on, None if there is nothing to do."""
    if lost := to_lost_tokens(answer):
        _note_lost_tokens(batch_id, lost)
    batch = Batch.objects.filter(pk=batch_id, stored_at=None).select_related("pipeline__project").first()
    if batch is None:
        return None
    run, candidates = _run_of(batch, now), _candidates(batch)
    try:
        if "error" in answer:
            raise BadAnswer(answer["error"])
        keep = _judged(run, batch, candidates, answer) if batch.filter_number else _made(run, candidates, answer)
        return batch.pipeline if _keep_once(run, batch, keep, now) else None
    except (BadAnswer, CannotStore) as error:
        Pipeline.objects.filter(pk=batch.pipeline_id, finished_at=None).update(error=str(error))
        Batch.objects.filter(pk=batch_id, stored_at=None).update(sent_at=None, begun=0)
        return None


@transaction.atomic
def _note_lost_tokens(batch_id: int, lost: Mapping[str, list[int]]) -> None:
    """Note the tokens of an answer that failed, once, also if the batch is not waited for any more."""
    batch = Batch.objects.select_for_update().filter(pk=batch_id).first()
    if batch is not None:
        batch.lost_tokens = {**(batch.lost_tokens or {}), **lost}
        batch.save(update_fields=["lost_tokens"])


@transaction.atomic
def _keep_once(run: StageRun, batch: Batch, keep: Callable[[], None], now: datetime) -> bool:
    """Call `keep` for a batch that is not stored; return whether it was not. Raises CannotStore."""
    if any(each.reads_known for _, each in run.first_filters):
        # Of two equal texts in two answers, the second finds the first.
        _lock(batch.pipeline_id)
    # Locked: of two answers to one batch the second finds it stored.
    if not Batch.objects.select_for_update(of=("self",)).filter(pk=batch.pk, stored_at=None).exists():
        return False
    keep()
    Batch.objects.filter(pk=batch.pk).update(stored_at=now)
    return True


def _made(run: StageRun, parents: Sequence[Candidate], answer: Mapping[str, Any]) -> Callable[[], None]:
    """Read what a worker made; return what stores it. Raises BadAnswer."""
    identity, results = to_results(answer)
    check_results(results, run.requests(parents), images=run.stage.maker.makes_images)

    def keep() -> None:
        made = run.candidates(run.used_maker(identity), parents, results)
        run.judge_first(made)
        Candidate.objects.bulk_create(made)

    return keep


def _judged(
    run: StageRun, batch: Batch, candidates: Sequence[Candidate], answer: Mapping[str, Any]
) -> Callable[[], None]:
    """Read what a filter says of candidates; return what stores it. Raises BadAnswer."""
    identity, verdicts = to_verdicts(answer, len(candidates))
    name, _ = run.filters[batch.filter_number - 1]

    def keep() -> None:
        run.note_filter(batch.filter_number, identity.version, weights=identity.weights)
        note_verdicts(name, candidates, verdicts)
        save_verdicts(candidates)

    return keep


def stalled(*, now: datetime) -> QuerySet[Pipeline]:
    """Return pipelines that wait for workers, and whose messages, or the job after the last answer, may be lost."""
    unstored = Batch.objects.filter(pipeline=OuterRef("pk"), stored_at=None)
    due = unstored.filter(Q(sent_at=None) | Q(sent_at__lt=now - LOST_AFTER))
    waiting = Pipeline.objects.filter(error="", stopped_at=None, finished_at=None).exclude(waits_for="")
    return waiting.filter(Exists(due) | ~Exists(unstored)).order_by("pk")

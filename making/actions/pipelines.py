"""Request and run pipelines: candidates are made, filtered and turned into instances in batches."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from background.jobs import cancel, request_job
from background.models import Job
from background.work import RunningJob, Work
from making.actions.filter_phases import note_known_texts, run_phase
from making.actions.human_stages import ask_people, check_rights, has_news, have_all_ended
from making.actions.image_inputs import first_images
from making.actions.instances import INSTANCES, store_instances
from making.actions.progress import phases_of, read_after, read_phase, step_of
from making.actions.source_roles import check_source_roles, source_instances
from making.actions.stages import BATCH, StageRun
from making.models import Candidate, Pipeline
from making.pipeline_file import START, AskedStage, PipelineFile, read_pipeline
from studies.actions.events import Actor, What, name_of, person, record
from studies.errors import StudyError
from studies.models import Project

KIND = "making.pipeline"
# Texts that a trial begins with.
TRIAL_TEXTS = 10


@transaction.atomic
def request_pipeline(*, project: Project, source: str, by: Actor, now: datetime) -> tuple[Pipeline, Job | None]:
    """Store a pipeline and queue its job; return both, the job None if nothing is left to do.

    An identical pipeline that stopped continues. Raises DesignRefused or StudyError.
    """
    wanted = read_pipeline(source)
    check_rights(wanted, project, by)
    pipeline, is_new = Pipeline.objects.select_for_update(of=("self",)).get_or_create(
        project=project, name=wanted.name, is_trial=False, defaults=_fields(source, by, now)
    )
    if read_pipeline(pipeline.source) != wanted:
        raise StudyError(
            f"The project already has a pipeline called {wanted.name} with another file. Change the name in this one."
        )
    if pipeline.finished_at is not None:
        return pipeline, None
    if is_new:
        check_source_roles(wanted, project)
        record(project=project, what=What.PIPELINE_REQUESTED, by=by, now=now, pipeline=pipeline.name)
    return pipeline, _queue(pipeline, by, now)


@transaction.atomic
def request_trial(*, project: Project, source: str, by: Actor, now: datetime) -> tuple[Pipeline, Job]:
    """Queue a trial of a pipeline on a few texts, replacing the last trial of its name. Raises DesignRefused."""
    wanted = read_pipeline(source)
    check_source_roles(wanted, project)
    name = wanted.name
    for old in Pipeline.objects.select_for_update(of=("self",)).filter(project=project, name=name, is_trial=True):
        if old.job is not None:
            cancel(job=old.job, now=now)
        old.delete()
    trial = Pipeline.objects.create(project=project, name=name, is_trial=True, **_fields(source, by, now))
    return trial, _queue(trial, by, now)


def _fields(source: str, by: Actor, now: datetime) -> dict[str, Any]:
    return {"source": source, "requested_by": person(by), "by_name": name_of(by), "requested_at": now}


def _queue(pipeline: Pipeline, by: Actor, now: datetime) -> Job:
    before = pipeline.job
    job, is_new = request_job(
        kind=KIND, arguments={"pipeline": pipeline.pk}, by=person(by), now=now, key=str(pipeline.pk)
    )
    if is_new and before is not None:
        # The job before this one has stored how far it came.
        Job.objects.filter(pk=job.pk).update(step=before.step)
    pipeline.job, pipeline.error, pipeline.stopped_at = job, "", None
    pipeline.save(update_fields=["job", "error", "stopped_at"])
    return job


@transaction.atomic
def continue_pipeline(*, pipeline_id: int, now: datetime) -> Job | None:
    """Queue the job of a pipeline after the last answer of a worker; None if it was stopped meanwhile."""
    waiting = Pipeline.objects.select_for_update(of=("self",)).filter(error="", stopped_at=None, finished_at=None)
    pipeline = waiting.filter(pk=pipeline_id).first()
    return None if pipeline is None else _queue(pipeline, pipeline.requested_by or pipeline.by_name, now)


@transaction.atomic
def cancel_pipeline(*, pipeline: Pipeline, by: Actor, now: datetime) -> None:
    """Cancel the job of a pipeline: its candidates stay, and the pipeline can continue later. Raises StudyError."""
    if pipeline.job is None or not (pipeline.is_unfinished or pipeline.waits_for_people):
        raise StudyError("This pipeline has already ended, so there was nothing to cancel.")
    pipeline.stopped_at = now
    pipeline.save(update_fields=["stopped_at"])
    if not pipeline.is_trial:
        record(project=pipeline.project, what=What.PIPELINE_CANCELLED, by=by, now=now, pipeline=pipeline.name)
    cancel(job=pipeline.job, now=now)


def _run(job: RunningJob) -> None:
    found = Pipeline.objects.filter(pk=job.arguments["pipeline"]).select_related("project", "requested_by")
    if (pipeline := found.first()) is None:
        # A trial that another one replaced.
        return
    wanted = read_pipeline(pipeline.source)
    phases = _phases(pipeline, wanted)
    note_known_texts(job, pipeline, wanted)
    for phase in phases[phases.index(read_phase(job, START)) :]:
        stage = wanted.by_name.get(phase.partition("/")[0])
        if phase == START:
            _store_start(job, pipeline, wanted)
        elif stage is None:
            if wanted.instances is not None:
                store_instances(job, pipeline, wanted, wanted.instances)
        elif isinstance(stage, AskedStage):
            if stage is next(each for each in wanted.ordered_stages if isinstance(each, AskedStage)):
                _note_collecting(job, pipeline)
            ask_people(job, pipeline, wanted, stage)
        elif not run_phase(job, StageRun(pipeline, wanted, stage, job.now()), phase):
            # The answer to the last batch queues another job, which goes on here.
            return
    _end_round(job, pipeline, wanted, phases)


def _phases(pipeline: Pipeline, wanted: PipelineFile) -> list[str]:
    """Return the phases of a round; a trial has those that need no people."""
    stages = wanted.ordered_stages
    if pipeline.is_trial:
        stages = [stage for stage in stages if not wanted.asked.keys() & {*wanted.line_of(stage.name)}]
    phases = [
        phase for stage in stages for phase in ([stage.name] if isinstance(stage, AskedStage) else phases_of(stage))
    ]
    return [START, *phases, *([] if pipeline.is_trial else [INSTANCES])]


def _note_collecting(job: RunningJob, pipeline: Pipeline) -> None:
    """Store when a round began to read what people decided."""
    pipeline.collected_at = job.now()
    pipeline.save(update_fields=["collected_at"])


def _end_round(job: RunningJob, pipeline: Pipeline, wanted: PipelineFile, phases: Sequence[str]) -> None:
    """End a pipeline, or let it wait for what people decide next."""
    with transaction.atomic():
        if not pipeline.is_trial and not have_all_ended(pipeline, wanted):
            # The next round reads what people have decided by then; the start is read once.
            job.advance(step=step_of(job, phases[1]))
            return
        job.check()
        Pipeline.objects.filter(pk=pipeline.pk).update(finished_at=job.now())
        if pipeline.is_trial:
            return
        by: Actor = pipeline.requested_by or pipeline.by_name
        record(
            project=pipeline.project,
            what=What.PIPELINE_FINISHED,
            by=by,
            now=job.now(),
            pipeline=pipeline.name,
            instances=pipeline.instances.count(),
        )


@transaction.atomic
def next_round(*, pipeline_id: int, now: datetime) -> Job | None:
    """Queue the job of a pipeline that waits for people, if they decided something; None if there is nothing to do."""
    pipeline = Pipeline.objects.select_for_update(of=("self",)).filter(pk=pipeline_id).first()
    if pipeline is None or not pipeline.waits_for_people or not has_news(pipeline):
        return None
    return _queue(pipeline, pipeline.requested_by or pipeline.by_name, now)


def waiting_for_people() -> QuerySet[Pipeline]:
    """Return the pipelines that may wait for people."""
    return Pipeline.objects.filter(
        is_trial=False, waits_for="", error="", stopped_at=None, finished_at=None, collected_at__isnull=False
    ).order_by("pk")


def _store_start(job: RunningJob, pipeline: Pipeline, wanted: PipelineFile) -> None:
    """Copy the captions that the pipeline begins with, and note their images."""
    after = read_after(job, START)
    images = wanted.start.images
    instances = source_instances(wanted, pipeline.project).order_by("pk")
    if pipeline.is_trial:
        ids = list(instances.values_list("pk", flat=True))
        # Spread over the project, for neighbours are often alike.
        instances = instances.filter(pk__in=ids[:: max(1, len(ids) // TRIAL_TEXTS)][:TRIAL_TEXTS])
    total, done = instances.count(), instances.filter(pk__lte=after).count()
    while batch := list(instances.filter(pk__gt=after).values_list("pk", "key", "captions")[:BATCH]):
        after, done = batch[-1][0], done + len(batch)
        shown = first_images([pk for pk, _, _ in batch], images) if images else {}
        with transaction.atomic():
            Candidate.objects.bulk_create(
                Candidate(
                    pipeline=pipeline,
                    stage=START,
                    start_id=pk,
                    start_key=key,
                    text=captions[wanted.start.role],
                    image_id=shown.get(pk),
                    state=Candidate.State.KEPT,
                    made_at=job.now(),
                )
                for pk, key, captions in batch
            )
            job.advance(step=step_of(job, START, after), done=done, total=total)


MAKE = Work(run=_run, trouble="The pipeline stopped.", unit="texts", minutes=60)

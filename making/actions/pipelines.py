"""Request and run pipelines: candidates are made, filtered and turned into instances in batches."""

from datetime import datetime
from typing import Any

from django.db import transaction

from background.errors import Failed
from background.jobs import cancel, request_job
from background.models import Job
from background.work import RunningJob, Work
from making.actions.filtering import note_known_texts, phases_of, run_phase
from making.actions.instances import INSTANCES, store_instances
from making.actions.stages import BATCH, StageRun
from making.models import Candidate, Pipeline
from making.pipeline_file import START, PipelineFile, read_pipeline
from studies.actions.events import Actor, What, name_of, person, record
from studies.actions.projects.tags import tag_instances
from studies.errors import StudyError
from studies.models import Project

KIND = "making.pipeline"
# Texts that a trial begins with.
TRIAL_TEXTS = 10


@transaction.atomic
def request_pipeline(*, project: Project, source: str, by: Actor, now: datetime) -> tuple[Pipeline, Job | None]:
    """Store a pipeline and queue its job; return both, the job None if nothing is left to do.

    An equal pipeline that stopped goes on where it was. Raises DesignRefused or StudyError.
    """
    wanted = read_pipeline(source)
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
        record(project=project, what=What.PIPELINE_REQUESTED, by=by, now=now, pipeline=pipeline.name)
    return pipeline, _queue(pipeline, by, now)


@transaction.atomic
def request_trial(*, project: Project, source: str, by: Actor, now: datetime) -> tuple[Pipeline, Job]:
    """Queue a trial of a pipeline on a few texts, in place of the last one of its name. Raises DesignRefused."""
    name = read_pipeline(source).name
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
    """Cancel the job of a pipeline: what was made stays, and the pipeline can go on later. Raises StudyError."""
    if pipeline.job is None or not pipeline.is_unfinished:
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
    stages = {phase: stage for stage in wanted.ordered_stages for phase in phases_of(stage)}
    phases = [START, *stages, *([] if pipeline.is_trial else [INSTANCES])]
    begun = job.step.get("phase", START)
    note_known_texts(job, pipeline, wanted)
    for phase in phases[phases.index(begun) :]:
        after = int(job.step["after"]) if job.step.get("phase") == phase else 0
        if phase == START:
            _store_start(job, pipeline, wanted, after)
        elif phase == INSTANCES:
            store_instances(job, pipeline, wanted, after)
        elif not run_phase(job, StageRun(pipeline, wanted, stages[phase], job.now()), phase, after):
            # The answer to the last batch queues another job, which goes on here.
            return
    with transaction.atomic():
        job.check()
        Pipeline.objects.filter(pk=pipeline.pk).update(finished_at=job.now())
        if pipeline.is_trial:
            return
        made = list(pipeline.candidates.filter(instance__isnull=False).values_list("instance", flat=True))
        by: Actor = pipeline.requested_by or pipeline.by_name
        told: dict[str, Any] = {"project": pipeline.project, "by": by, "now": job.now()}
        if made:
            tag_instances(instances=made, name=pipeline.name, **told)
        record(what=What.PIPELINE_FINISHED, pipeline=pipeline.name, instances=len(made), **told)


def _store_start(job: RunningJob, pipeline: Pipeline, wanted: PipelineFile, after: int) -> None:
    """Copy the captions that the pipeline begins with."""
    role = wanted.start.role
    instances = pipeline.project.instances.filter(captions__has_key=role).order_by("pk")
    # Instances that pipelines made are no beginning: they would be made from again.
    instances = instances.exclude(reference__has_key="made")
    if pipeline.is_trial:
        ids = list(instances.values_list("pk", flat=True))
        # Spread over the project, for neighbours are often alike.
        instances = instances.filter(pk__in=ids[:: max(1, len(ids) // TRIAL_TEXTS)][:TRIAL_TEXTS])
    total, done = instances.count(), instances.filter(pk__lte=after).count()
    if not total:
        raise Failed(
            f"No instance of the project has a caption in the role {role}. Import some, or name another role in "
            "`start`."
        )
    while batch := list(instances.filter(pk__gt=after).values_list("pk", "key", "captions")[:BATCH]):
        after, done = batch[-1][0], done + len(batch)
        with transaction.atomic():
            Candidate.objects.bulk_create(
                Candidate(
                    pipeline=pipeline,
                    stage=START,
                    start_id=pk,
                    start_key=key,
                    text=captions[role],
                    state=Candidate.State.KEPT,
                    made_at=job.now(),
                )
                for pk, key, captions in batch
            )
            job.advance(step={"phase": START, "after": after}, done=done, total=total)


MAKE = Work(run=_run, trouble="The pipeline stopped.", unit="texts", minutes=60)

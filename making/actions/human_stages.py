"""Stages that people make: a study asks about candidates, and what people accept is kept."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from analytics.outcomes import Outcome
from annotation.actions.launching.extend_study import add_instances, why_no_new_instances
from annotation.actions.launching.launch import launch
from annotation.models import Decision, Removal, Session
from annotation.models.outcomes import instances_with
from annotation.models.sessions import OPEN_STATES
from background.errors import Failed
from background.work import RunningJob
from making.actions.instances import store_instances
from making.actions.pipeline_studies import accepted_facts, studies_of, study_of
from making.actions.progress import step_of
from making.models import Candidate, Pipeline
from making.pipeline_file import AskedStage, PipelineFile
from studies.actions.events import Actor
from studies.actions.projects.members import may
from studies.actions.questions import selected_instances
from studies.actions.studies import create_study
from studies.design import DesignRefused
from studies.design.yaml_writer import block_yaml
from studies.errors import StudyError
from studies.models import UNDER_WAY, Instance, Project, Question, Study, StudyState
from studies.permissions import Verb

KEPT, REJECTED = Candidate.State.KEPT, Candidate.State.REJECTED
TAKEN_BACK = "People accepted it first, and no longer do."
# Decisions younger than this may have been in transit while they were read, or could still be undone.
MARGIN = timedelta(seconds=10)


def check_rights(wanted: PipelineFile, project: Project, by: Actor) -> None:
    """Raise StudyError if `by` may not create or launch the studies of a pipeline. Commands may."""
    if isinstance(by, str):
        return
    verbs = [Verb.DESIGN] * bool(wanted.studies) + [Verb.RUN] * any(stage.launch for stage in wanted.studies)
    if not all(may(by, verb, project) for verb in verbs):
        raise StudyError(
            "This pipeline creates or launches studies, which you may not do in this project. Ask one of its owners."
        )


def ask_people(job: RunningJob, pipeline: Pipeline, wanted: PipelineFile, stage: AskedStage) -> None:
    """Ask about the candidates that a stage reads, and keep what people have accepted so far.

    The study is created with the first instances, launched if the stage says so, and extended by later ones. Raises
    Failed if that is refused.
    """
    store_instances(job, pipeline, wanted, stage.instances, stage)
    by: Actor = pipeline.requested_by or pipeline.by_name
    try:
        check_rights(wanted, pipeline.project, by)
        study = study_of(pipeline, wanted, stage) or _create(job, pipeline, wanted, stage, by)
        if study is None:
            return
        _check_ours(study, wanted, stage)
        if study.state == StudyState.DRAFT and stage.launch:
            launch(study=study, by=by, now=job.now())
        elif study.state in UNDER_WAY and _can_be_extended(
            study, are_all_made=not _waits_for_more(pipeline, wanted, stage)
        ):
            add_instances(study=study, by=by, now=job.now())
    except (StudyError, DesignRefused) as error:
        problem = " ".join(error.problems) if isinstance(error, StudyError) else str(error)
        raise Failed(f"The study of the stage {stage.name} was refused. {problem}") from error
    with transaction.atomic():
        _collect(pipeline, wanted, stage, study, job.now())
        job.advance(step=step_of(job, stage.name))


def _create(job: RunningJob, pipeline: Pipeline, wanted: PipelineFile, stage: AskedStage, by: Actor) -> Study | None:
    """Create the draft of a stage once there is an instance to ask about."""
    name = wanted.name_of_study(stage)
    if not Instance.objects.filter(project=pipeline.project_id, tags__name=name).exists():
        return None
    source = f"# Written by the pipeline {pipeline.name}, stage {stage.name}.\n{block_yaml(wanted.study_values(stage))}"
    return create_study(project=pipeline.project, source=source, by=by, now=job.now())


def _check_ours(study: Study, wanted: PipelineFile, stage: AskedStage) -> None:
    name = wanted.name_of_study(stage)
    if name not in study.design.instances.tags:
        raise StudyError(
            f"The project has another study called {name}. Give the stage another name, or its study one in `study`."
        )


def _can_be_extended(study: Study, *, are_all_made: bool) -> bool:
    """Whether enough instances wait for a whole survey; for any survey, if no more are made."""
    if why_no_new_instances(study):
        return False
    asked = Question.objects.filter(study=study, instance=OuterRef("pk"))
    unasked = selected_instances(study).filter(~Exists(asked))
    design = study.design
    return unasked.count() >= (1 if are_all_made else max(1, design.surveys.size // design.questions_per_instance))


def _waits_for_more(pipeline: Pipeline, wanted: PipelineFile, stage: AskedStage) -> bool:
    """Whether people may still accept what later instances of a stage are made from."""
    before = [wanted.asked[name] for name in wanted.line_of(stage.of) if name in wanted.asked]
    return any(not is_over(study_of(pipeline, wanted, each)) for each in before)


def is_over(study: Study | None) -> bool:
    """Whether nobody can answer in a study any more."""
    if study is None or study.state != StudyState.CLOSED:
        return False
    return not Session.objects.filter(study=study, state__in=OPEN_STATES).exists()


def _collect(pipeline: Pipeline, wanted: PipelineFile, stage: AskedStage, study: Study, now: datetime) -> None:
    """Store what people have accepted and rejected, and what they no longer accept."""
    rows = {one.instance_id or 0: one for one in pipeline.candidates.filter(stage=stage.name)}
    accepted = accepted_facts(study, now)
    rejected = set(instances_with(Outcome.REJECTED, study).values_list("pk", flat=True)) if study.accepts else set()
    changed, again = [], []
    for instance, row in rows.items():
        if row.state == KEPT and instance not in accepted:
            row.state, row.rejected_by, row.reason = REJECTED, study.slug, TAKEN_BACK
            changed.append(row)
        elif row.state == REJECTED and instance in accepted:
            again.append(row)
    Candidate.objects.bulk_update(changed, ["state", "rejected_by", "reason"])
    # Those that later stages have not read are stored once more, behind what these have read.
    children = Candidate.objects.filter(parent__in=again)
    read = {parent for parent in children.values_list("parent", flat=True) if parent is not None}
    Candidate.objects.filter(pk__in=read).update(state=KEPT, rejected_by="", reason="")
    gone = [row for row in again if row.pk not in read]
    Candidate.objects.filter(pk__in=[row.pk for row in gone]).delete()
    new = (accepted.keys() | rejected) - (rows.keys() - {row.instance_id or 0 for row in gone})
    parents = _parents(pipeline, stage, new)
    Candidate.objects.bulk_create(
        _decided(
            pipeline,
            stage,
            parent,
            instance=instance,
            text=accepted[instance].captions.get(stage.role, "")
            if instance in accepted and stage.role
            else parent.text,
            reason="" if instance in accepted else f"People rejected it in the study {study.slug}.",
            by=study.slug,
            now=now,
        )
        for instance, parent in sorted(parents.items())
    )


def _parents(pipeline: Pipeline, stage: AskedStage, instances: Iterable[int]) -> dict[int, Candidate]:
    """Return the candidate that each instance (id) was made from; instances that others made are left out."""
    made = pipeline.instances.filter(pk__in=instances)
    rows = dict(made.values_list("pk", "source_row"))
    parents = pipeline.candidates.filter(stage=stage.of).in_bulk(rows.values())
    return {instance: parents[row] for instance, row in rows.items() if row in parents}


def _decided(
    pipeline: Pipeline,
    stage: AskedStage,
    parent: Candidate,
    *,
    instance: int,
    text: str,
    reason: str,
    by: str,
    now: datetime,
) -> Candidate:
    """Return the unsaved candidate of an instance that people accepted or, with a reason, rejected."""
    return Candidate(
        pipeline=pipeline,
        stage=stage.name,
        parent=parent,
        start_id=parent.start_id,
        start_key=parent.start_key,
        instance_id=instance,
        text=text,
        state=REJECTED if reason else KEPT,
        rejected_by=by if reason else "",
        reason=reason,
        made_at=now,
    )


def has_news(pipeline: Pipeline) -> bool:
    """Whether people decided something, or a study of the pipeline ended, since it last read what they decided."""
    if pipeline.collected_at is None:
        return False
    since = pipeline.collected_at - MARGIN
    studies = studies_of(pipeline)
    if studies.filter(closed_at__gte=since).exists():
        return True
    if Removal.objects.filter(project=pipeline.project_id, at__gte=since).exists():
        return True
    if Session.objects.filter(study__in=studies, study__state=StudyState.CLOSED, ended_at__gte=since).exists():
        return True
    decided = Decision.objects.filter(study__in=studies)
    return decided.filter(Q(decided_at__gte=since) | Q(question__undone_at__gte=since)).exists()


def have_all_ended(pipeline: Pipeline, wanted: PipelineFile) -> bool:
    """Whether every study of a pipeline was over when the pipeline last read it, or has nothing to ask about."""
    for stage in wanted.studies:
        study = study_of(pipeline, wanted, stage)
        if study is None:
            if _waits_for_more(pipeline, wanted, stage):
                return False
            continue
        if not is_over(study) or study.closed_at is None or pipeline.collected_at is None:
            return False
        ends = Session.objects.filter(study=study, ended_at__gte=pipeline.collected_at)
        if study.closed_at >= pipeline.collected_at or ends.exists():
            return False
    return True

"""What people accepted in the study of a stage."""

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db.models import QuerySet

from annotation.actions.arriving.draw_questions import accepted_about
from making.models import Pipeline
from making.pipeline_file import AskedStage, PipelineFile, read_pipeline
from studies.actions.questions import facts_about
from studies.kinds import InstanceFacts
from studies.models import Instance, Study


def study_of(pipeline: Pipeline, wanted: PipelineFile, stage: AskedStage) -> Study | None:
    """Return the study of a stage, None before it is created."""
    name = wanted.name_of_study(stage)
    return Study.objects.filter(project=pipeline.project_id, slug=name).select_related("project").first()


def studies_of(pipeline: Pipeline) -> QuerySet[Study]:
    """Return the studies that the stages of a pipeline have created, in that order."""
    wanted = read_pipeline(pipeline.source)
    names = [wanted.name_of_study(stage) for stage in wanted.studies]
    return Study.objects.filter(project=pipeline.project_id, slug__in=names).order_by("pk")


def accepted_facts(
    study: Study | None, now: datetime, among: Collection[int | None] | None = None
) -> Mapping[int, InstanceFacts]:
    """Return id -> facts of the instances that `study` accepted, with what acceptance added; `among`: only these."""
    if study is None:
        return {}
    instances = None if among is None else Instance.objects.filter(pk__in=[pk for pk in among if pk is not None])
    about = sorted(accepted_about(study, now=now, among=instances), key=lambda each: each.instance)
    return dict(zip((each.instance for each in about), facts_about(about), strict=True))

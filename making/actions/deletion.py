"""Delete a pipeline with everything that it made, as long as no study asks about that."""

from datetime import datetime

from django.db import transaction

from making.actions.pipeline_studies import studies_of
from making.models import Pipeline
from studies.actions.events import Actor, What, record
from studies.errors import StudyError
from studies.models import Question, Tag


@transaction.atomic
def delete_pipeline(*, pipeline: Pipeline, by: Actor, now: datetime) -> int:
    """Delete a pipeline, its candidates and its instances; return how many instances. Raises StudyError."""
    there = Pipeline.objects.select_for_update(of=("self",)).select_related("project", "job")
    found = there.filter(pk=pipeline.pk).first()
    if found is None:
        raise StudyError("Somebody else has just deleted this pipeline.")
    pipeline = found
    if pipeline.is_unfinished:
        raise StudyError("The pipeline is running. Cancel it first.")
    # A trial made no instances, and the pipeline of its name may have.
    made = pipeline.instances.none() if pipeline.is_trial else pipeline.instances
    asked = Question.objects.filter(instance__in=made).values_list("study__slug", flat=True).distinct().order_by()
    if names := sorted({*asked, *([] if pipeline.is_trial else studies_of(pipeline).values_list("slug", flat=True))}):
        raise StudyError(
            f"The pipeline stays, because it belongs to the design of these studies: {', '.join(names)}. Drafts can be "
            "deleted; launched studies cannot."
        )
    count = made.count()
    made.delete()
    Tag.objects.filter(project=pipeline.project_id, instances=None).delete()
    if not pipeline.is_trial:
        record(
            project=pipeline.project,
            what=What.PIPELINE_DELETED,
            by=by,
            now=now,
            pipeline=pipeline.name,
            instances=count,
        )
    pipeline.delete()
    return count

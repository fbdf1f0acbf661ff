"""The dataset of a project: accepted items of the studies declared for it, at launch or later."""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction

from studies.actions.events import Actor, What, record
from studies.actions.questions import reachable_instances, upstream_studies
from studies.errors import StudyError
from studies.models import Project, Study, StudyState


def dataset_studies(project: Project) -> list[Study]:
    """Return the studies whose accepted items are the dataset of `project`, in launch order.

    An empty result means that all instances are the dataset.
    """
    declared = Study.objects.filter(project=project, in_dataset=True).select_related("fed_by")
    return list(declared.order_by("launched_at", "pk"))


def ways_to_dataset(project: Project) -> list[list[Study]]:
    """Return each study of the dataset with those upstream of it, nearest first."""
    return [[study, *upstream_studies(study)] for study in dataset_studies(project)]


def last_accepting(project: Project) -> list[Study]:
    """Return the launched, accepting studies of `project` that feed no other such study, in launch order."""
    launched = Study.objects.filter(project=project).exclude(state=StudyState.DRAFT).select_related("fed_by")
    accepting = [study for study in launched.order_by("launched_at", "pk") if study.accepts]
    feeding = {study.fed_by_id for study in accepting}
    return [study for study in accepting if study.pk not in feeding]


@transaction.atomic
def set_dataset(*, project: Project, studies: Collection[Study], by: Actor, now: datetime) -> None:
    """Make the accepted items of `studies` the dataset of `project`; none: all instances. Raises StudyError."""
    # Not FOR UPDATE: an action that holds a lock on one of the studies may insert its event for the project at the same
    # time.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    for study in studies:
        _check(project, study)
    _check_parallel(studies)
    before = dataset_studies(project)
    wanted = {study.pk for study in studies}
    if wanted == {study.pk for study in before}:
        return
    Study.objects.filter(project=project, in_dataset=True).exclude(pk__in=wanted).update(in_dataset=False)
    Study.objects.filter(pk__in=wanted).update(in_dataset=True)
    for study in studies:
        study.in_dataset = True
    only = next(iter(studies)) if len(studies) == 1 else None
    told = {"before": _names(before), "studies": _names(dataset_studies(project))}
    record(project=project, study=only, what=What.DATASET_SET, by=by, now=now, **told)


def join_dataset(*, study: Study, by: Actor, now: datetime) -> None:
    """Add `study` at its launch to the dataset of its project.

    It replaces studies upstream of it and studies that select some of its instances.
    """
    feeding = {each.pk for each in upstream_studies(study)}
    stay = [
        each
        for each in dataset_studies(study.project)
        if each.pk not in feeding and not (reachable_instances(study) & reachable_instances(each)).exists()
    ]
    set_dataset(project=study.project, studies=[*stay, study], by=by, now=now)


def _check(project: Project, study: Study) -> None:
    if study.project_id != project.pk:
        raise StudyError(f"{study.slug} belongs to another project. Choose a study of {project.slug}.")
    if not study.accepts:
        raise StudyError(
            f"{study.slug} accepts no instances, so it cannot be part of the dataset. "
            "Choose a study that accepts or rejects instances."
        )
    if study.state == StudyState.DRAFT:
        raise StudyError(f"{study.slug} is a draft, so it has accepted nothing yet. Launch it first.")


def _check_parallel(studies: Collection[Study]) -> None:
    """Raise StudyError if one of `studies` is upstream of another."""
    by_id = {study.pk: study for study in studies}
    for study in studies:
        for above in upstream_studies(study):
            if above.pk in by_id:
                raise StudyError(
                    f"{study.slug} takes its instances from {above.slug}, so they cannot both be part of the dataset. "
                    f"Leave {above.slug} out."
                )


def describe_dataset(studies: Sequence[Study]) -> str:
    """Describe a dataset of `studies`, as the end of a sentence."""
    return f"the items accepted by {' and '.join(study.slug for study in studies)}" if studies else "all instances"


def _names(studies: Sequence[Study]) -> str:
    return ", ".join(study.slug for study in studies)


def may_keep(study: Study) -> bool:
    """Return whether `study` can define the dataset: it was launched, and it accepts and rejects."""
    return study.accepts and study.state != StudyState.DRAFT

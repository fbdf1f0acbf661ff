"""The dataset of a project: the accepted items of the studies that are declared for it, at a launch or later."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from studies.actions.events import Actor, What, record
from studies.actions.questions import selected_instances
from studies.errors import StudyError
from studies.models import Instance, Project, Study, StudyState


def dataset_studies(project: Project) -> list[Study]:
    """Return the studies whose accepted items are the dataset of `project`, in the order of their launch.

    None: all its instances are the dataset.
    """
    declared = Study.objects.filter(project=project, in_dataset=True).select_related("fed_by")
    return list(declared.order_by("launched_at", "pk"))


def last_accepting(project: Project) -> list[Study]:
    """Return the launched studies of `project` that accept and feed no other such study, in the order of launches."""
    launched = Study.objects.filter(project=project).exclude(state=StudyState.DRAFT).select_related("fed_by")
    accepting = [study for study in launched.order_by("launched_at", "pk") if study.accepts]
    feeding = {study.fed_by_id for study in accepting}
    return [study for study in accepting if study.pk not in feeding]


@transaction.atomic
def set_dataset(*, project: Project, studies: Collection[Study], by: Actor, now: datetime) -> None:
    """Declare that the dataset of `project` is what `studies` accepted; none: all its instances. Raises StudyError."""
    # Not FOR UPDATE: an action that has locked one of the studies may note its event in the project meanwhile.
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
    """Add `study`, which is being launched, to the dataset of its project.

    It takes the place of studies that feed it, and of those that select some of its instances.
    """
    feeding = {each.pk for each in _feeding(study)}
    stay = [
        each
        for each in dataset_studies(study.project)
        if each.pk not in feeding and not (_selected(study) & _selected(each)).exists()
    ]
    set_dataset(project=study.project, studies=[*stay, study], by=by, now=now)


def _check(project: Project, study: Study) -> None:
    if study.project_id != project.pk:
        raise StudyError(f"{study.slug} is a study of another project. Choose one of {project.slug}.")
    if not study.accepts:
        raise StudyError(
            f"{study.slug} accepts nothing, so it cannot keep the dataset. Choose a study that accepts and rejects."
        )
    if study.state == StudyState.DRAFT:
        raise StudyError(f"{study.slug} is a draft, so it has kept nothing. Launch it first.")


def _check_parallel(studies: Collection[Study]) -> None:
    """Raise StudyError where one of `studies` takes its instances from another one."""
    by_id = {study.pk: study for study in studies}
    for study in studies:
        for above in _feeding(study):
            if above.pk in by_id:
                raise StudyError(
                    f"{study.slug} takes its instances from {above.slug}, so the dataset cannot hold both. "
                    f"Leave {above.slug} out."
                )


def _selected(study: Study) -> QuerySet[Instance]:
    """Return the instances that can come to `study`: those that it and all that feed it select."""
    chosen = selected_instances(study).order_by()
    for above in _feeding(study):
        chosen &= selected_instances(above).order_by()
    return chosen


def _feeding(study: Study) -> Iterator[Study]:
    while study.fed_by is not None:
        study = study.fed_by
        yield study


def told_of(studies: Sequence[Study]) -> str:
    """Return what a dataset of `studies` is, words that end a sentence."""
    return f"what {' and '.join(study.slug for study in studies)} accepted" if studies else "all instances"


def _names(studies: Sequence[Study]) -> str:
    return ", ".join(study.slug for study in studies)


def may_keep(study: Study) -> bool:
    """Tell whether `study` may keep the dataset of its project: it has been launched, and it accepts and rejects."""
    return study.accepts and study.state != StudyState.DRAFT

"""Why studies do not ask about an instance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analytics.outcomes import Outcome
from results.queries.studies.simulated_answers import above
from studies.actions.projects.datasets import dataset_studies
from studies.actions.questions import selected_instances
from studies.models import Instance, Project, Study, StudyState


@dataclass(frozen=True)
class NotAsked:
    """A study of the dataset that does not ask about an instance. `why`: a sentence."""

    study: Study
    why: str


def why_not_asked(
    project: Project, instances: Sequence[Instance], outcomes: Mapping[int, Mapping[int, Outcome]]
) -> Mapping[int, Sequence[NotAsked]]:
    """Return the id of each of `instances` -> the launched studies that could ask about it and do not, in their order.

    These are the studies of the dataset and those before them, as far as what came before accepted the instance.
    outcomes: id of an instance -> id of each study that asks about it -> its outcome there.
    """
    found: dict[int, list[NotAsked]] = {instance.pk: [] for instance in instances}
    for study in _on_the_way(project):
        missing = [
            each
            for each in instances
            if study.pk not in outcomes.get(each.pk, {})
            and (
                study.fed_by_id is None
                or outcomes.get(each.pk, {}).get(study.fed_by_id) in (Outcome.ACCEPTED, Outcome.AGREED)
            )
        ]
        if not missing:
            continue
        selected = set(
            selected_instances(study).filter(pk__in=[each.pk for each in missing]).values_list("pk", flat=True)
        )
        for instance in missing:
            found[instance.pk].append(NotAsked(study, _why(study, instance, is_selected=instance.pk in selected)))
    return found


def _on_the_way(project: Project) -> list[Study]:
    """Return the launched studies of the dataset and those before them, earliest first."""
    ways = [[study, *above(study)] for study in dataset_studies(project)]
    launched = {study.pk: study for way in ways for study in reversed(way) if study.launched_at is not None}
    return list(launched.values())


def _why(study: Study, instance: Instance, *, is_selected: bool) -> str:
    if instance.key in {question.instance for question in study.design.practice.questions}:
        return "It is used as a practice question."
    if not is_selected:
        return "The study file does not select it."
    if study.fed_by is not None:
        if study.state == StudyState.CLOSED:
            return "The study was closed before it came from the study before."
        return "It is asked about as soon as the study has a place for it."
    if study.launched_at is not None and instance.created_at > study.launched_at:
        return "It was imported after the launch. Add new instances to the study to ask about it."
    return "It could not be asked about at the launch, for example because an image was missing."

"""Studies that do not ask about an instance, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analytics.outcomes import Outcome
from studies.actions.projects.datasets import ways_to_dataset
from studies.actions.questions import selected_instances
from studies.models import Check, Instance, Project, Question, Study, StudyState

GOLD = "It is asked about as a gold question, and answers to those do not count."


@dataclass(frozen=True)
class MissingQuestion:
    """A study of the dataset that does not ask about an instance. `why`: a sentence."""

    study: Study
    why: str


def missing_questions(
    project: Project, instances: Sequence[Instance], outcomes: Mapping[int, Mapping[int, Outcome]]
) -> Mapping[int, Sequence[MissingQuestion]]:
    """Return the id of each of `instances` -> the launched studies that could ask about it and do not, in their order.

    These are the studies of the dataset and those before them, as far as what came before accepted the instance.
    outcomes: id of an instance -> id of each study that asks about it -> its outcome there.
    """
    found: dict[int, list[MissingQuestion]] = {instance.pk: [] for instance in instances}
    for study in _pipeline_studies(project):
        missing = [each for each in instances if _could_ask(study, outcomes.get(each.pk, {}))]
        if not missing:
            continue
        selected = set(
            selected_instances(study).filter(pk__in=[each.pk for each in missing]).values_list("pk", flat=True)
        )
        gold = _gold_instances(study, missing)
        for instance in missing:
            reason = GOLD if instance.pk in gold else _why(study, instance, is_selected=instance.pk in selected)
            found[instance.pk].append(MissingQuestion(study, reason))
    return found


def _could_ask(study: Study, outcomes: Mapping[int, Outcome]) -> bool:
    """Whether `study` could ask about an instance with these outcomes, but does not."""
    passed = study.fed_by_id is None or outcomes.get(study.fed_by_id) in (Outcome.ACCEPTED, Outcome.AGREED)
    return passed and study.pk not in outcomes


def _pipeline_studies(project: Project) -> list[Study]:
    """Return the launched studies of the dataset and those before them, earliest first."""
    ways = ways_to_dataset(project)
    launched = {study.pk: study for way in ways for study in reversed(way) if study.launched_at is not None}
    return list(launched.values())


def _gold_instances(study: Study, among: Sequence[Instance]) -> set[int]:
    """Return the ids of those `among` instances that `study` asks about as gold."""
    if study.design.checks is None or study.design.checks.gold is None:
        return set()
    asked = Question.with_checks.filter(study=study, check_type=Check.GOLD, undone_at=None, instance__in=among)
    return set(asked.order_by().values_list("instance_id", flat=True))


def _why(study: Study, instance: Instance, *, is_selected: bool) -> str:
    if instance.key in {question.instance for question in study.design.practice.questions}:
        return "It is used as a practice question."
    if not is_selected:
        return "The study file does not select it."
    if study.fed_by is not None:
        if study.state == StudyState.CLOSED:
            return "The study was closed before its upstream study accepted the instance."
        return "It is asked about as soon as the study has a place for it."
    if study.launched_at is not None and instance.created_at > study.launched_at:
        if study.state == StudyState.CLOSED:
            return "It was imported after the launch, and the study is closed."
        return "It was imported after the launch. Add new instances to the study to ask about it."
    return "It could not be asked about at the launch, for example because an image was missing."

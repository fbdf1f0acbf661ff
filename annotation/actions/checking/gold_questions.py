"""Choose and make the gold questions of a study before its other questions, which leave their instances out."""

import random
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Q

from annotation.models import Decision
from studies.actions.questions import About, items_to_ask, reachable_instances, right_columns, unsaved_questions
from studies.errors import StudyError
from studies.kinds import CannotAsk, get_kind
from studies.models import Check, Instance, Question, Study
from studies.wording import format_count


def make_gold_questions(*, study: Study) -> None:
    """Store the gold questions of a draft that is being launched. Raises StudyError."""
    questions = list(gold_questions(study))
    for question in questions:
        question.check_type, question.source_type = Check.GOLD, Check.GOLD
        question.answers_wanted = study.answers
    Question.with_checks.bulk_create(questions)


def gold_instances(study: Study) -> set[int]:
    """Return the instances that a draft would use as gold, which it does not ask about otherwise. Raises StudyError."""
    checks = study.design.checks
    if checks is None or checks.gold is None:
        return set()
    is_made = Question.with_checks.filter(study=study, check_type=Check.GOLD).exists()
    if is_made or not checks.gold.from_study:
        # The selection leaves them out already.
        return set()
    return {question.instance_id for question in gold_questions(study)}


def people_per_gold_question(study: Study) -> float | None:
    """Return of how many people each gold question of a draft would be asked on average; None without gold.

    Raises StudyError if the gold questions cannot be made.
    """
    checks = study.design.checks
    if checks is None or checks.gold is None:
        return None
    instances = len({question.instance_id for question in gold_questions(study)})
    # The selection leaves out listed gold, but not yet gold from another study.
    surveys = _surveys(study, without=instances if checks.gold.from_study else 0)
    return checks.gold.per_survey * surveys * study.answers / instances if instances else None


def gold_questions(study: Study) -> Iterable[Question]:
    """Return the unsaved gold questions of `study`: all questions about each instance. Raises StudyError."""
    checks = study.design.checks
    if checks is None or checks.gold is None:
        return []
    return _from_study(study) if checks.gold.from_study else _from_list(study)


def _from_list(study: Study) -> list[Question]:
    gold = study.design.checks.gold if study.design.checks else None
    entries = {} if gold is None else {each.instance: each for each in gold.questions}
    found = dict(Instance.objects.filter(project=study.project_id, key__in=entries).values_list("key", "pk"))
    if missing := [key for key in entries if key not in found]:
        raise StudyError(
            f"`checks.gold` names the instance {missing[0]}, which project {study.project.slug} does not have. Correct "
            "the key, or import the instance."
        )
    keys = {pk: key for key, pk in found.items()}
    questions = []
    for about, made in unsaved_questions(study, [About(pk) for pk in found.values()]):
        key = keys[about.instance]
        if isinstance(made, CannotAsk):
            raise StudyError(f"The gold question about {key} cannot be asked. {made}")
        for question in made:
            _set_right(question, key, entries[key].right, only_one=len(made) == 1)
        questions += made
    return questions


def _set_right(question: Question, key: str, right: str, *, only_one: bool) -> None:
    """Give a gold question its right answer, by the study file or by its kind. Raises StudyError."""
    kind = get_kind(question.kind)
    if right and not only_one:
        raise StudyError(
            f"The study asks several questions about {key}, so `right` in `checks.gold` does not say which it answers. "
            "Leave `right` out if the type of question knows the right answers; otherwise leave gold questions out."
        )
    if right:
        options = [option.key for option in kind.options(question.content)]
        if right not in options or not kind.has_one_label:
            raise StudyError(
                f"`checks.gold` says {right} is right about {key}; its options are {', '.join(options)}. Correct it."
            )
        question.right, question.right_answer = right, None
    elif question.what_is_right == "":
        raise StudyError(f"The gold question about {key} has no right answer. Fill in `right` in `checks.gold`.")


def _from_study(study: Study) -> list[Question]:
    gold = study.design.checks.gold if study.design.checks else None
    if gold is None:
        return []
    source = _source_study(study, gold.from_study)
    usable = _decided_instances(study, source)
    wanted = gold.per_survey * _surveys(study)
    if len(usable) < gold.per_survey:
        raise StudyError(
            f"`checks.gold` needs {format_count(gold.per_survey, 'instance')} with settled or accepted questions in "
            f"study {source.slug}, and it has {len(usable)} that this study can reach. Settle more there, or ask fewer "
            "gold questions."
        )
    dice = random.Random(f"{study.secret_seed}|gold")  # noqa: S311 (the seed is secret)
    chosen = dice.sample(sorted(usable), min(wanted, len(usable)))
    return [_copy(question, study, right) for instance in sorted(chosen) for question, right in usable[instance]]


def _surveys(study: Study, *, without: int = 0) -> int:
    """Return how many surveys `study` would have, about; at least 1. without: instances that it does not ask about."""
    number = reachable_instances(study).count() - without
    sample = study.design.instances.sample
    asked = (number if sample is None else min(number, sample)) * study.design.questions_per_instance
    return max(1, round(asked / study.design.surveys.size))


def _source_study(study: Study, slug: str) -> Study:
    """Return the study whose questions become gold. Raises StudyError if there is none that asks the same way."""
    source = Study.objects.filter(project=study.project_id, slug=slug).first()
    if source is None:
        raise StudyError(
            f"`checks.gold.from` names {slug}, but project {study.project.slug} has no such study. Create it first, or "
            "correct the name."
        )
    theirs = {part.kind: dict(part.ask) for part in source.design.parts}
    for part in study.design.parts:
        if part.kind not in theirs:
            raise StudyError(
                f"`checks.gold.from` names {slug}, which asks no questions of {part.kind}. Gold questions must look "
                "like the others: name a study of the same kind."
            )
        if theirs[part.kind] != dict(part.ask):
            raise StudyError(
                f"`checks.gold.from` names {slug}, whose questions of {part.kind} have another `ask`. Gold questions "
                "must look like the others: name a study with the same `ask`."
            )
    return source


def _decided_instances(study: Study, source: Study) -> dict[int, list[tuple[Question, Any]]]:
    """Return the instances whose questions in `source` all have a decided answer: each question with that answer.

    Only questions of the kinds that `study` asks.
    """
    reachable = reachable_instances(study).order_by()
    decided = Decision.objects.filter(
        ~Q(settled_choice="") | Q(state=Decision.State.ACCEPTED) & ~Q(winner=""),
        study=source,
        question__undone_at=None,
        question__kind__in=[part.kind for part in study.design.parts],
        question__instance__in=reachable,
    )
    found: dict[int, list[tuple[Question, Any]]] = {}
    for decision in decided.select_related("question").order_by("question_id"):
        right = decision.settled_choice or decision.winner
        found.setdefault(decision.question.instance_id, []).append((decision.question, right))
    return {
        instance: questions
        for instance, questions in found.items()
        if len(questions) == study.design.questions_per_instance
    }


def _copy(question: Question, study: Study, right: Any) -> Question:
    parts: Mapping[str, int] = {part.kind: number for number, part in enumerate(study.design.parts)}
    return Question(
        study=study,
        instance_id=question.instance_id,
        kind=question.kind,
        variant=question.variant,
        part=parts[question.kind],
        content=question.content,
        item=question.item,
        source_id=question.pk,
        **right_columns(right),
    )


def items_without_gold(study: Study) -> list[About] | None:
    """Return what a draft asks about, without its gold instances; None if its selection says it already."""
    gold = gold_instances(study)
    if not gold:
        return None
    left = [about for about in items_to_ask(study) if about.instance not in gold]
    if not left:
        raise StudyError(
            "Every instance that the study selects would be a gold question. Select more instances, or ask fewer gold "
            "questions."
        )
    return left

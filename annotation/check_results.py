"""Results of the checks of answers: gold questions, instruction checks and repeated questions. They count nowhere."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet

from annotation.models import Response
from annotation.models.responses import stands
from studies.kinds import Answer, get_kind
from studies.models import Check, Question

CHUNK = 1_000
# What browsers say of an answer is larger than the answer.
_ASKED = ("kind", "content", "right", "right_answer", "check_type", "source_id")
_COLUMNS = ("session", "annotator", "choice", "answer", *(f"question__{name}" for name in _ASKED))


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer to a check; ids of its response, session, annotator and question.

    passed: the answer to a gold question is right, an instruction was followed, or a repeated question got the same
    answer. None if this is undefined, such as for a repeat whose first answer does not stand.
    """

    response: int
    session: int
    annotator: int
    question: int
    check: str
    passed: bool | None


@dataclass(frozen=True)
class Passed:
    """How many checks of one type were passed, of those with a result."""

    passed: int = 0
    of: int = 0

    @property
    def failed(self) -> int:
        return self.of - self.passed


def checked_answers(answers: QuerySet[Response]) -> list[CheckedAnswer]:
    """Return those of `answers` that are to checks and stand, in the order of their ids. Two queries at most.

    Memory holds a few numbers of each, and the answers to repeated questions.
    """
    checked, repeats = list[CheckedAnswer](), dict[int, tuple[tuple[int | None, int], Any]]()
    given = answers.filter(stands(), is_check=True).select_related("question").only(*_COLUMNS).order_by("pk")
    for each in given.iterator(chunk_size=CHUNK):
        question = each.question
        is_repeat = question.check_type == Check.REPEAT
        if is_repeat:
            repeats[each.pk] = ((question.source_id, each.annotator_id), each.whole_answer)
        passed = None if is_repeat else passed_check(each, {})
        checked.append(
            CheckedAnswer(each.pk, each.session_id, each.annotator_id, question.pk, question.check_type, passed)
        )
    firsts = first_answers(name for name, _ in repeats.values())
    for number, one in enumerate(checked):
        if one.response in repeats:
            name, answer = repeats[one.response]
            checked[number] = replace(one, passed=_is_same(firsts.get(name), answer))
    return checked


def count_passed(checked: Iterable[CheckedAnswer]) -> dict[str, Passed]:
    """Return type of check -> how many of `checked` were passed; every type is there."""
    passed, of = defaultdict[str, int](int), defaultdict[str, int](int)
    for each in checked:
        passed[each.check] += each.passed is True
        of[each.check] += each.passed is not None
    return {check: Passed(passed[check], of[check]) for check in Check.values}


def passed_by_session(answers: QuerySet[Response]) -> dict[int, dict[str, Passed]]:
    """Return session -> type of check -> how many were passed; without sessions that have answered no check."""
    by_session: dict[int, list[CheckedAnswer]] = {}
    for each in checked_answers(answers):
        by_session.setdefault(each.session, []).append(each)
    return {session: count_passed(checked) for session, checked in by_session.items()}


def first_answers(repeats: Iterable[tuple[int | None, int]]) -> dict[tuple[int | None, int], Response]:
    """Return (question, annotator) -> the standing answer, for each question that an annotator was asked again."""
    asked = set(repeats)
    if not asked:
        return {}
    questions, people = {question for question, _ in asked}, {person for _, person in asked}
    firsts = Response.objects.standing().filter(question__in=questions, annotator__in=people)
    return {(each.question_id, each.annotator_id): each for each in firsts}


def passed_check(given: Response, firsts: Mapping[tuple[int | None, int], Response]) -> bool | None:
    """Return whether an answer to a check passed it, as CheckedAnswer has it. firsts: of `first_answers`."""
    question: Question = given.question
    if question.check_type == Check.REPEAT:
        return _is_same(firsts.get((question.source_id, given.annotator_id)), given.whole_answer)
    score = get_kind(question.kind).score(
        question.content, question.what_is_right, Answer(given.whole_answer, given.choice)
    )
    return None if score is None else score == 1


def _is_same(first: Response | None, answer: Any) -> bool | None:
    return None if first is None else bool(first.whole_answer == answer)

"""Scores of answers by kinds that score themselves, and agreement measures of kinds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from annotation.models import Response
from results.queries.reports.added_answers import planned_surveys
from results.reports.facts import MeasuredQuestion, ScoredAnswer
from studies.kinds import Answer, Kind, get_kind, has_own_score
from studies.models import Question, Study

# Rows per fetch: each fetch is a round trip.
CHUNK = 2_000
# Questions with a known right answer.
KNOWS_RIGHT = ~Q(right="") | Q(right_answer__isnull=False)


@dataclass(frozen=True)
class AskedQuestion:
    """The fields of a question needed to score its answers."""

    kind: Kind
    content: Mapping[str, Any]
    right: Any

    def score(self, answer: Answer) -> float | None:
        return None if self.right == "" else self.kind.score(self.content, self.right, answer)


def kinds_with_own_scores(study: Study) -> list[str]:
    """Return the kinds of `study` that score answers themselves, in its order."""
    return [part.kind for part in study.design.parts if has_own_score(get_kind(part.kind))]


def asked_questions(
    study: Study, kinds: Sequence[str], among: QuerySet[Any, Any] | None = None
) -> dict[int, AskedQuestion]:
    """Return the questions of `kinds` that `study` asks, by id: all, or those of them that are `among` these ids."""
    rows = Question.objects.filter(study=study, kind__in=kinds).order_by("pk")
    if among is not None:
        rows = rows.filter(pk__in=among)
    read = rows.values_list("pk", "kind", "content", "right", "right_answer").iterator(chunk_size=CHUNK)
    return {
        pk: AskedQuestion(get_kind(kind), content, label if right is None else right)
        for pk, kind, content, label, right in read
    }


def answer_scores(study: Study, among: QuerySet[Any, Any] | None = None) -> list[ScoredAnswer]:
    """Return the scores of the counted answers whose kind scores them itself, in order of arrival.

    among: only answers to these questions (ids).
    """
    kinds = kinds_with_own_scores(study)
    if not kinds or not Question.objects.filter(KNOWS_RIGHT, study=study, kind__in=kinds).exists():
        return []
    asked = asked_questions(study, kinds, among)
    return [
        ScoredAnswer(question, annotator, score)
        for question, annotator, _, answer in _counted_answers(study, kinds, among)
        if (score := asked[question].score(answer)) is not None
    ]


def measured_questions(study: Study) -> list[MeasuredQuestion]:
    """Return each question with several answers by each agreement measure of its kind.

    Leaves out answers that were added because the first ones differed.
    """
    kinds = [part.kind for part in study.design.parts if get_kind(part.kind).measures()]
    if not kinds:
        return []
    asked, planned = asked_questions(study, kinds), planned_surveys(study)
    given: dict[int, dict[int, Any]] = {}
    for question, annotator, survey, answer in _counted_answers(study, kinds):
        if not planned.is_added(question, survey):
            given.setdefault(question, {})[annotator] = answer.value
    measured = []
    for question, values in given.items():
        of, people = asked[question], list(values)
        for measure in of.kind.measures() if len(people) > 1 else ():
            found = measure.of_question(of.content, list(values.values()))
            reason = found.reason or ""
            measured.append(MeasuredQuestion(question, of.kind.name, measure.name, found.value, reason, people))
    return measured


def _counted_answers(
    study: Study, kinds: Sequence[str], among: QuerySet[Any, Any] | None = None
) -> Iterator[tuple[int, int, int, Answer]]:
    """Yield question, annotator, survey and answer of the counted answers, in order of arrival."""
    counted = Response.objects.counted_in(study).filter(question__kind__in=kinds).order_by("pk")
    if among is not None:
        counted = counted.filter(question__in=among)
    columns = ("question_id", "annotator_id", "slot__seat__survey__number", "choice", "answer")
    for question, annotator, survey, choice, answer in counted.values_list(*columns).iterator(chunk_size=CHUNK):
        # An answer as its kind created it.
        yield question, annotator, survey, Answer(choice if answer is None else answer, choice)

"""Which answers were planned for every question, and which were added to undecided questions."""

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import Min, QuerySet

from annotation.models import Slot
from studies.models import Study

# Rows per fetch: each fetch is a round trip.
CHUNK = 10_000


class PlannedSurveys:
    """The surveys, by number, that asked each question because every question was asked.

    At first, or again when a researcher requested more answers to all.
    """

    def __init__(self, surveys: Mapping[int, Collection[int]]) -> None:
        self._surveys = surveys

    def is_added(self, question: int, survey: int) -> bool:
        """Whether an answer from that survey was requested because others left its question undecided."""
        return question in self._surveys and survey not in self._surveys[question]


def planned_surveys(study: Study, questions: QuerySet[Any, Any] | None = None) -> PlannedSurveys:
    """Return the planned surveys of `study`, of all or these questions (ids).

    Their seats existed before anybody answered, whoever sits there now. In each round a question is in one of them; if
    its answers leave it undecided, it is asked again in a later one. Those answers are the added ones: their questions
    were picked because of earlier answers.
    """
    if max(study.design.max_answers, study.raised_to) <= study.design.answers:
        # Answers are never added.
        return PlannedSurveys({})
    slots = Slot.objects.ordinary().filter(question__study=study).order_by()
    if questions is not None:
        slots = slots.filter(question__in=questions)
    first = slots.values_list("question_id", "seat__survey__round").annotate(Min("seat__survey__number"))
    surveys: dict[int, list[int]] = {}
    for question, _, number in first.iterator(chunk_size=CHUNK):
        surveys.setdefault(question, []).append(number)
    return PlannedSurveys(surveys)

"""Which answers were asked for of every question, and which were added where those left a question undecided."""

from collections.abc import Collection, Mapping

from django.db.models import Min

from annotation.models import Slot
from studies.models import Study

# Rows fetched at once: each fetch is a round trip.
CHUNK = 10_000


class Planned:
    """The surveys of a study, by number, that asked each question because every question was asked: at first, or once
    more when a researcher wanted more answers to all."""

    def __init__(self, surveys: Mapping[int, Collection[int]]) -> None:
        self._surveys = surveys

    def is_added(self, question: int, survey: int) -> bool:
        """Tell whether an answer from that survey was asked for because others had left its question undecided."""
        return question in self._surveys and survey not in self._surveys[question]


def planned_surveys(study: Study) -> Planned:
    """Return which answers of `study` were asked for of every question.

    The seats of these surveys were there before anybody answered, whoever sits on them now. In each round a question
    stands in one of them; where its answers leave it undecided, it is asked again in a later one, whose answers are the
    added ones: they come from questions that were picked for what had been answered.
    """
    if max(study.design.max_answers, study.raised_to) <= study.design.answers:
        # No answer is ever added.
        return Planned({})
    slots = Slot.objects.filter(question__study=study).order_by()
    first = slots.values_list("question_id", "seat__survey__round").annotate(Min("seat__survey__number"))
    surveys: dict[int, list[int]] = {}
    for question, _, number in first.iterator(chunk_size=CHUNK):
        surveys.setdefault(question, []).append(number)
    return Planned(surveys)

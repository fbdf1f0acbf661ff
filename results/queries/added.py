"""Which answers were asked for at first, and which were added where those left a question undecided."""

from collections.abc import Mapping

from django.db.models import Min

from annotation.models import Slot
from studies.models import Study


def planned_surveys(study: Study) -> Mapping[int, int]:
    """Return the number of the survey that each question was planned into; nothing where no answer is ever added.

    The seats of that survey were there from the start, whoever sits on them now. A question that its first answers
    left undecided is asked again in a later survey: answers from there are the added ones.
    """
    if study.design.max_answers <= study.design.answers:
        return {}
    slots = Slot.objects.filter(question__study=study).order_by().values_list("question_id")
    return dict(slots.annotate(Min("seat__survey__number")))

"""Outcomes of answers in downstream studies that ask about them.

Studies that only measure, such as baselines, accept and reject nothing.
"""

from collections.abc import Sequence

from django.db.models import QuerySet

from annotation.models import Decision, Response
from annotation.models.responses import RESPONSE
from studies.models import Study
from studies.rules import State


def decisions_about(answers: QuerySet[Response] | Sequence[int]) -> QuerySet[Decision]:
    """Return the decisions on downstream questions about `answers`, in studies that accept or reject.

    answers: responses or their ids.
    """
    asked = Decision.objects.filter(question__source_type=RESPONSE, question__undone_at=None)
    asked = asked.filter(question__source_id__in=answers)  # type: ignore[misc]
    asking = Study.objects.filter(pk__in=asked.order_by().values("study"))
    return asked.filter(study__in=[study.pk for study in asking if study.accepts])


def downstream_outcomes(answers: QuerySet[Response] | Sequence[int]) -> dict[int, list[State]]:
    """Return the decision states of each answer in downstream studies that accept or reject.

    Answers that no such study asks about are left out.
    """
    rows = decisions_about(answers).order_by("question_id").values_list("question__source_id", "state")
    found: dict[int, list[State]] = {}
    for response, state in rows:
        found.setdefault(response, []).append(State(state))
    return found

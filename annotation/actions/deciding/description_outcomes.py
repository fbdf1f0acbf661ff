"""What has become of answers in the studies that ask about them. Those that only measure, as a baseline does, accept
and reject nothing, whatever most of their annotators say."""

from collections.abc import Sequence

from django.db.models import QuerySet

from annotation.models import Decision, Response
from annotation.models.responses import RESPONSE
from studies.models import Study
from studies.rules import State


def decisions_about(answers: QuerySet[Response] | Sequence[int]) -> QuerySet[Decision]:
    """Return the decisions of the questions that other studies ask about `answers`, or answers of these ids, where they
    accept or reject."""
    asked = Decision.objects.filter(question__source_type=RESPONSE, question__undone_at=None)
    if isinstance(answers, QuerySet):
        asked = asked.filter(question__source_id__in=answers.values("pk"))
    else:
        asked = asked.filter(question__source_id__in=answers)
    asking = Study.objects.filter(pk__in=asked.order_by().values("study"))
    return asked.filter(study__in=[study.pk for study in asking if study.accepts])


def downstream_outcomes(answers: QuerySet[Response] | Sequence[int]) -> dict[int, list[State]]:
    """Return, for each of `answers` that is asked about, what became of it in each study that accepts or rejects."""
    rows = decisions_about(answers).order_by("question_id").values_list("question__source_id", "state")
    found: dict[int, list[State]] = {}
    for response, state in rows:
        found.setdefault(response, []).append(State(state))
    return found

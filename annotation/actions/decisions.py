"""Decisions: what follows for a question from its counted answers, kept up to date as they arrive."""

from collections import Counter
from datetime import datetime

from analytics.acceptance import State, decide
from annotation.models import Decision, Response
from studies.models import Question


def decide_question(*, question: Question, rule: str, now: datetime, only_answer: str | None = None) -> None:
    """Apply `rule` to the current counted responses of `question` and store what follows.

    Must run inside the transaction that stored the response. `only_answer` spares reading when a question wants one
    answer and this is it; otherwise the decision's row is locked first, so that of two answers sent at the same
    moment the later one sees both.
    """
    decisions = Decision.objects.filter(question=question)
    if only_answer is not None and question.answers_wanted == 1:
        answers = [only_answer]
    else:
        decisions.select_for_update().get()
        counted = Response.objects.filter(question=question, is_current=True, slot__isnull=False)
        answers = list(counted.order_by("received_at", "id").values_list("choice", flat=True))
    verdict = decide(rule, answers, question.answers_wanted)
    decisions.update(
        rule=rule,
        state=verdict.state.value,
        winner=verdict.winner or "",
        votes=dict(sorted(Counter(answers).items())),
        answers=len(answers),
        decided_at=None if verdict.state is State.UNDECIDED else now,
    )

"""Decisions: what follows for a question from its counted answers, kept up to date as they arrive."""

from collections import Counter
from datetime import datetime

from analytics.acceptance import State, decide
from annotation.actions.sending import store_decision
from annotation.models import Decision, Response


def decide_question(*, question: int, wanted: int, rule: str, now: datetime, only_answer: str | None = None) -> None:
    """Apply `rule` to the current counted responses of a question that wants `wanted` answers; store what follows.

    Must run inside the transaction that stored the response. `only_answer` spares reading when a question wants one
    answer and this is it; otherwise the decision's row is locked first, so that of two answers sent at the same
    moment the later one sees both.
    """
    if only_answer is not None and wanted == 1:
        answers = [only_answer]
    else:
        Decision.objects.select_for_update().get(question=question)
        counted = Response.objects.counted().filter(question=question)
        answers = list(counted.order_by("received_at", "id").values_list("choice", flat=True))
    verdict = decide(rule, answers, wanted)
    store_decision(
        question=question,
        rule=rule,
        state=verdict.state.value,
        winner=verdict.winner or "",
        votes=dict(sorted(Counter(answers).items())),
        answers=len(answers),
        decided=None if verdict.state is State.UNDECIDED else now,
    )

"""Decisions: what follows for a question from its counted answers, kept up to date as they arrive."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from analytics.acceptance import State, decide
from annotation.actions.sending import store_decision
from annotation.models import Decision, Response

BATCH = 500


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


def recount(*, questions: Sequence[int], now: datetime) -> list[int]:
    """Compute votes and decisions of `questions` again, after other answers count than before.

    Returns the questions whose decision is another one now. What a researcher has settled stays settled; only its
    votes follow. Runs in a transaction, and locks the decisions, so that an answer on its way is not passed over.
    """
    changed: list[int] = []
    ordered = sorted(set(questions))
    for start in range(0, len(ordered), BATCH):
        changed += _recount(ordered[start : start + BATCH], now=now)
    return changed


def _recount(questions: Sequence[int], *, now: datetime) -> list[int]:
    of_these = Decision.objects.filter(question__in=questions).order_by("question_id")
    decisions = list(of_these.select_for_update(of=("self",)).select_related("question"))
    given: dict[int, list[str]] = {question: [] for question in questions}
    counted = Response.objects.counted().filter(question__in=questions).order_by("received_at", "id")
    for question, choice in counted.values_list("question_id", "choice"):
        given[question].append(choice)
    changed = [decision for decision in decisions if _decide_again(decision, given[decision.question_id], now=now)]
    Decision.objects.bulk_update(decisions, ["state", "winner", "votes", "answers", "decided_at"])
    return [decision.question_id for decision in changed]


def _decide_again(decision: Decision, answers: Sequence[str], *, now: datetime) -> bool:
    """Write into `decision` what follows from `answers`; tell whether that is something else than before."""
    decision.votes, decision.answers = dict(sorted(Counter(answers).items())), len(answers)
    if decision.settled_choice:
        return False
    verdict = decide(decision.rule, answers, decision.question.answers_wanted)
    before = (decision.state, decision.winner)
    decision.state, decision.winner = verdict.state.value, verdict.winner or ""
    if (decision.state, decision.winner) == before:
        return False
    decision.decided_at = None if verdict.state is State.UNDECIDED else now
    return True

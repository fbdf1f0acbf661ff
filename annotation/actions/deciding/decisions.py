"""Decisions on questions from their counted answers, updated with every answer."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from annotation.actions.answering.answer_sql import DecisionValues, store_decision
from annotation.actions.deciding.description_outcomes import downstream_outcomes
from annotation.actions.deciding.undo_acceptance import update_downstream_of_questions
from annotation.models import Decision, Response
from annotation.models.responses import RESPONSE
from studies.kinds import Answer, get_kind
from studies.models import Question, Study
from studies.rules import State, Verdict, Vote, VoteContext, decide, get_rule

BATCH = 500
# The columns of a decision that depend on the answers.
_DECIDED = ("state", "winner", "votes", "answers", "asks_more", "decided_at")


@dataclass(frozen=True)
class DecisionInput:
    """A question as its rule sees it, without answers.

    response: the answer that it asks about, or 0. is_check: it is a check, on which nothing is decided.
    """

    question: int
    kind: str
    rule: str
    asked: VoteContext
    response: int = 0
    is_check: bool = False


def decision_input(question: Question, study: Study) -> DecisionInput:
    response = question.source_id if question.source_type == RESPONSE else 0
    return DecisionInput(
        question.pk, question.kind, study.rule, rule_input(question, study), response, bool(question.check_type)
    )


def rule_input(question: Question, study: Study) -> VoteContext:
    """Return what the rule of `study` sees of its `question`, without answers."""
    return VoteContext.of_question(
        get_kind(question.kind),
        question.content,
        wanted=question.answers_wanted,
        most=study.most_answers,
        right=question.right,
    )


def decide_question(*, asked: DecisionInput, now: datetime) -> None:
    """Apply the rule to the counted answers of a question and store the decision.

    Runs in the transaction that stored the answer. The decision is locked first, so that of two answers at the same
    moment the later one sees both. If a researcher has asked for more answers, the question is read again.

    A check has no decision. The same statements run for it, and change nothing, so that its answers take as long.
    """
    asked = _lock_and_reload(asked)
    given = _votes([asked.question], with_outcomes=get_rule(asked.rule).needs.downstream_outcome)[asked.question]
    store_decision(_decision_values(asked, given, now=now))
    if asked.response:
        decide_source_questions(responses=[asked.response], now=now)


def _lock_and_reload(asked: DecisionInput) -> DecisionInput:
    """Lock the decision of a question; return the current input of its rule."""
    found = Decision.objects.select_for_update().filter(question=asked.question)
    decision = next(iter(found), None)
    if decision is None and not asked.is_check:
        raise Decision.DoesNotExist
    if decision is None or decision.more_asked_at is None:
        return asked
    # Read after the lock: a join would return the question as it was before the wait.
    question = Question.objects.select_related("study").get(pk=asked.question)
    return replace(asked, asked=rule_input(question, question.study))


def decision_with_answer(
    answer: Answer, *, earlier: Sequence[tuple[str, Any]], asked: DecisionInput, now: datetime
) -> DecisionValues:
    """Return the decision on a question with a new answer, which nobody has been asked about.

    earlier: label and answer of those counted before. Only without any if the rule needs downstream outcomes.
    """
    with_outcomes = get_rule(asked.rule).needs.downstream_outcome
    is_source = not with_outcomes or get_kind(asked.kind).as_source(asked.asked.content, answer.value) is not None
    given = [Vote(label, label if value is None else value) for label, value in earlier]
    return _decision_values(asked, [*given, Vote(answer.label, answer.value, is_source=is_source)], now=now)


def _decision_values(asked: DecisionInput, given: Sequence[Vote], *, now: datetime) -> DecisionValues:
    verdict = decide(asked.rule, asked.asked, given)
    return DecisionValues(
        question=asked.question,
        rule=asked.rule,
        votes=votes_of(given),
        answers=len(given),
        asks_more=verdict.more,
        state=verdict.state.value,
        winner=verdict.winner or "",
        at=None if verdict.state is State.UNDECIDED else now,
    )


def decide_source_questions(*, responses: Iterable[int], now: datetime) -> None:
    """Decide the questions again whose answers are `responses`, after downstream decisions changed.

    Only if their rule needs downstream outcomes. Runs in a transaction, after the questions about the responses are
    decided.
    """
    asked_about = Question.objects.filter(responses__in=responses).select_related("study").distinct().order_by("pk")
    for question in asked_about:
        if get_rule(question.study.rule).needs.downstream_outcome:
            decide_question(asked=decision_input(question, question.study), now=now)
            update_downstream_of_questions(questions=[question.pk], now=now)


def _votes(questions: Sequence[int], *, with_outcomes: bool) -> dict[int, list[Vote]]:
    """Return the counted answers to each of `questions`, in order of arrival.

    with_outcomes: with the downstream outcomes of each, and whether downstream studies can ask about it.
    """
    given: dict[int, list[Vote]] = {question: [] for question in questions}
    counted = Response.objects.counted().filter(question__in=questions).order_by("received_at", "id")
    rows = list(counted.values_list("pk", "question_id", "choice", "answer"))
    became = downstream_outcomes([pk for pk, *_ in rows]) if with_outcomes else {}
    asked = Question.objects.only("kind", "content").in_bulk(questions) if with_outcomes else {}
    for pk, question, label, answer in rows:
        whole = label if answer is None else answer
        source = asked.get(question)
        is_source = source is None or get_kind(source.kind).as_source(source.content, whole) is not None
        given[question].append(Vote(label, whole, became.get(pk, ()), is_source))
    return given


def explain(questions: Collection[int]) -> dict[int, str]:
    """Return question -> what its rule says about its counted answers, as a sentence.

    Reads only. Decisions that a researcher made are explained as if they had not.
    """
    found = Question.objects.filter(pk__in=questions).select_related("study")
    rules = {question.pk: question.study.rule for question in found}
    given = _votes(
        list(rules), with_outcomes=any(get_rule(rule).needs.downstream_outcome for rule in set(rules.values()))
    )
    return {
        question.pk: decide(rules[question.pk], rule_input(question, question.study), given[question.pk]).reason
        for question in found
    }


def votes_of(given: Iterable[Vote]) -> dict[str, int]:
    """Count the answers by label; answers without one label are left out."""
    return dict(sorted(Counter(each.label for each in given if each.label).items()))


def recount(*, questions: Sequence[int], now: datetime) -> list[int]:
    """Recompute votes and decisions of `questions` after a change in which answers count.

    Returns the questions whose decision changed. Settled decisions stay; only their votes change. Runs in a transaction
    and locks the decisions, so that answers in transit are included.
    """
    changed: list[int] = []
    ordered = sorted(set(questions))
    for start in range(0, len(ordered), BATCH):
        changed += _recount(ordered[start : start + BATCH], now=now)
    return changed


def _recount(questions: Sequence[int], *, now: datetime) -> list[int]:
    of_these = Decision.objects.filter(question__in=questions).order_by("question_id")
    decisions = list(of_these.select_for_update(of=("self",)).select_related("question", "study"))
    given = _votes(
        questions, with_outcomes=any(get_rule(decision.rule).needs.downstream_outcome for decision in decisions)
    )
    before = [_decision_columns(decision) for decision in decisions]
    changed = [decision for decision in decisions if _decide_again(decision, given[decision.question_id], now=now)]
    _store_what_changed(decisions, before)
    made_from = (decision.question for decision in changed if decision.question.source_type == RESPONSE)
    decide_source_questions(responses=[question.source_id for question in made_from], now=now)
    return [decision.question_id for decision in changed]


def _decision_columns(decision: Decision) -> dict[str, Any]:
    return {name: getattr(decision, name) for name in _DECIDED}


def _store_what_changed(decisions: Sequence[Decision], before: Sequence[Mapping[str, Any]]) -> None:
    """Write the changes from `before`, one statement for all decisions with equal changes."""
    alike: dict[str, tuple[dict[str, Any], list[int]]] = {}
    for decision, was in zip(decisions, before, strict=True):
        changed = {name: value for name, value in _decision_columns(decision).items() if value != was[name]}
        if changed:
            alike.setdefault(repr(changed), (changed, []))[1].append(decision.pk)
    for columns, decided in alike.values():
        Decision.objects.filter(pk__in=decided).update(**columns)


def _decide_again(decision: Any, given: Sequence[Vote], *, now: datetime) -> bool:
    """Update `decision` from the answers, without saving it; return whether state or winner changed."""
    decision.votes, decision.answers = votes_of(given), len(given)
    verdict: Verdict = decide(decision.rule, rule_input(decision.question, decision.study), given)
    decision.asks_more = verdict.more
    if decision.settled_choice:
        return False
    before = (decision.state, decision.winner)
    decision.state, decision.winner = verdict.state.value, verdict.winner or ""
    if (decision.state, decision.winner) == before:
        return False
    decision.decided_at = None if verdict.state is State.UNDECIDED else now
    return True

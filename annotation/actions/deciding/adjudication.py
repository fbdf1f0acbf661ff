"""Adjudication: a researcher settles undecided questions, recorded as a settlement."""

from dataclasses import replace
from datetime import datetime

from django.db import transaction

from annotation.actions.deciding.decisions import decide_question, decide_source_questions, decision_input, rule_input
from annotation.actions.deciding.undo_acceptance import is_used_downstream, update_downstream_of_questions
from annotation.errors import AnnotationError
from annotation.models import Decision
from annotation.models.responses import RESPONSE
from studies.actions.events import Actor, What, person, record
from studies.kinds import get_kind
from studies.models import Question
from studies.names import LONGEST_NOTE, problem_with_text
from studies.rules import Vote, decide


class CannotSettle(AnnotationError):
    """The question cannot be settled this way; the message tells the researcher why."""

    heading = "This cannot be settled"


def options_of(question: Question) -> list[str]:
    """Return the keys of all options of `question`; none if answers are not one option each."""
    kind = get_kind(question.kind)
    return [option.key for option in kind.options(question.content)] if kind.has_one_label else []


@transaction.atomic
def settle(*, question: Question, choice: str, by: Actor, note: str, now: datetime) -> Decision:
    """Decide `question` as its rule would if every possible answer were `choice`. Raises CannotSettle."""
    if problem := problem_with_text(note, LONGEST_NOTE):
        raise CannotSettle(f"The note cannot be kept. {problem}")
    decision = Decision.objects.select_for_update().get(question=question)
    if not options_of(question):
        raise CannotSettle("The answers to this question are not one option each, so that no option can settle it.")
    if choice not in options_of(question):
        raise CannotSettle(
            f"{choice} is not an option of this question. Choose one of {', '.join(options_of(question))}."
        )
    if decision.state != Decision.State.UNDECIDED and not decision.settled_choice:
        raise CannotSettle("The answers have already decided this question.")
    _check_unused(question)
    asked = rule_input(question, question.study)
    # The choice counts as every possible answer, because one answer decides nothing under some rules.
    verdict = decide(decision.rule, replace(asked, wanted=asked.most), [Vote(choice, choice)] * asked.most)
    Decision.objects.filter(pk=decision.pk).update(
        state=verdict.state.value,
        winner=verdict.winner or "",
        settled_choice=choice,
        settled_by=person(by),
        settled_note=note,
        decided_at=now,
    )
    # Undone downstream questions are restored if the acceptance is the same as before.
    update_downstream_of_questions(questions=[question.pk], now=now)
    if question.source_type == RESPONSE:
        decide_source_questions(responses=[question.source_id], now=now)
    decision.refresh_from_db()
    _record(question, What.QUESTION_SETTLED, by=by, now=now, choice=choice)
    return decision


@transaction.atomic
def unsettle(*, question: Question, by: Actor, now: datetime) -> Decision:
    """Remove a settlement, so that the answers decide again. Raises CannotSettle."""
    decision = Decision.objects.select_for_update().get(question=question)
    if not decision.settled_choice:
        raise CannotSettle("Nobody has settled this question.")
    _check_unused(question)
    choice = decision.settled_choice
    Decision.objects.filter(pk=decision.pk).update(settled_choice="", settled_by=None, settled_note="")
    decide_question(asked=decision_input(question, question.study), now=now)
    decision.refresh_from_db()
    _record(question, What.QUESTION_UNSETTLED, by=by, now=now, choice=choice)
    return decision


def _record(question: Question, what: What, *, by: Actor, now: datetime, choice: str) -> None:
    study, about = question.study, question.instance.key
    record(
        project=study.project, study=study, what=what, by=by, now=now, question=question.pk, about=about, choice=choice
    )


def _check_unused(question: Question) -> None:
    if is_used_downstream(question):
        raise CannotSettle("The next study already asks about this instance; the decision can no longer change.")

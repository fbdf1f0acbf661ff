"""Progress and outcome of questions and instances, and how they follow from answers. Pure.

Progress and outcome are separate. Progress counts the answers of a question: unanswered, open, complete. Outcome is the
result: none yet, agreed, conflicting, accepted, rejected. In a study that accepts nothing, such as a baseline,
questions can be agreed, but never accepted.
"""

from collections.abc import Iterable
from enum import StrEnum


class State(StrEnum):
    """Decision of an acceptance rule on a question."""

    UNDECIDED = "undecided"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Progress(StrEnum):
    """Progress of the answers to a question."""

    UNANSWERED = "unanswered"
    OPEN = "open"
    COMPLETE = "complete"


class Outcome(StrEnum):
    """Outcome of a question, or of an instance in a study.

    `UNDONE`: it was drawn from an acceptance that has since been undone, for example because somebody's answers were
    removed. It has no effect any more, whatever its answers are.
    """

    NONE_YET = "none yet"
    AGREED = "agreed"
    CONFLICTING = "conflicting"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDONE = "undone"


# Outcomes possible only in a study that accepts, and only in one that does not.
ACCEPTING = frozenset({Outcome.ACCEPTED, Outcome.REJECTED})
NOT_ACCEPTING = frozenset({Outcome.AGREED})
# Outcomes without an accepted item, though all answers are in. A researcher can still settle a conflicting question.
LOST = frozenset({Outcome.REJECTED, Outcome.CONFLICTING, Outcome.UNDONE})


def progress_of(answers: int, wanted: int) -> Progress:
    """Return the progress of a question with this many counted answers, of this many wanted.

    answers: at least 0; wanted: the current number of wanted answers, at least 1. Example: 1 of 2 is open.
    """
    if not answers:
        return Progress.UNANSWERED
    return Progress.COMPLETE if answers >= wanted else Progress.OPEN


def progress_of_instance(of_questions: Iterable[Progress]) -> Progress:
    """Return the joint progress of all questions about an instance; at least one question.

    Example: one question complete, one unanswered: the instance is open.
    """
    found = set(of_questions)
    return found.pop() if len(found) == 1 else Progress.OPEN


def outcome_of_question(state: str, *, answers: int, wanted: int, accepts: bool, undone: bool = False) -> Outcome:
    """Return the outcome of a question.

    state: the verdict of its rule on the counted answers, or of a researcher's settlement (`State`). answers, wanted:
    as for `progress_of`. accepts: whether its study accepts and rejects. undone: whether the acceptance that it was
    drawn from was undone.

    Example: two answers that differ, of two wanted, leave it undecided: it is conflicting.
    """
    if undone:
        return Outcome.UNDONE
    if state == State.UNDECIDED:
        complete = progress_of(answers, wanted) is Progress.COMPLETE
        return Outcome.CONFLICTING if complete else Outcome.NONE_YET
    if not accepts:
        return Outcome.AGREED
    return Outcome.ACCEPTED if state == State.ACCEPTED else Outcome.REJECTED


# The outcome of an instance if one question has it, whatever the others; otherwise all must agree.
DECIDING = (Outcome.UNDONE, Outcome.REJECTED, Outcome.NONE_YET, Outcome.CONFLICTING)
# A part has the first of these outcomes among its attempts.
BEST_FIRST = (Outcome.ACCEPTED, Outcome.AGREED, Outcome.NONE_YET, Outcome.CONFLICTING, Outcome.REJECTED, Outcome.UNDONE)
# The item of a question about all of its instance.
WHOLE = ""


def outcome_of_item(item: str, outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of an item in a study, from the outcomes of the questions about it; at least one.

    item: the part of its instance, such as one image of a set, or `WHOLE`. A whole instance is accepted when all its
    questions are, rejected as soon as one is, and conflicting when no answer is awaited and one question conflicts. The
    questions about a part are attempts, such as one description after another of the same image: it is accepted as soon
    as one is, and rejected when all are.

    Raises ValueError without a question. Example: one question accepted, one rejected: the whole instance is rejected,
    and a part is accepted.
    """
    found = set(outcomes)
    if not found:
        raise ValueError("An item that a study does not ask about has no outcome there.")
    order = DECIDING if item == WHOLE else BEST_FIRST
    return next((outcome for outcome in order if outcome in found), None) or found.pop()


def outcomes_of_items(questions: Iterable[tuple[str, Outcome]]) -> dict[str, Outcome]:
    """Return the outcome of each item of one instance in a study: item -> outcome.

    questions: the item and the outcome of each question that the study asks about the instance.
    """
    by_item: dict[str, set[Outcome]] = {}
    for item, outcome in questions:
        by_item.setdefault(item, set()).add(outcome)
    return {item: outcome_of_item(item, outcomes) for item, outcomes in by_item.items()}


def outcome_of_instance(questions: Iterable[tuple[str, Outcome]]) -> Outcome:
    """Return the outcome of an instance in a study; `questions` as for `outcomes_of_items`, at least one.

    An instance of several items is accepted as soon as one of them is, and rejected when all are. Raises ValueError
    without a question.
    """
    found = set(outcomes_of_items(questions).values())
    if not found:
        raise ValueError("The study asks no question about this instance, so it has no outcome there.")
    return next(outcome for outcome in BEST_FIRST if outcome in found)

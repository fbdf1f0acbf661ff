"""Frozen release rows with one person erased: their answers, and the outcomes that depend on them.

The rows decide, not the study today: answers that came after a release was frozen stay out of it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from analytics.outcomes import Outcome, State, outcome_of_question, progress_of
from results.exporting.base import RowType
from results.exporting.rows import (
    AcceptedInstance,
    AcceptedQuestion,
    DecidedQuestion,
    DescribedImage,
    GivenPrediction,
    GivenResponse,
    NotedEvent,
    PredictionConditions,
)
from studies.rules import Vote, VoteContext, decide, get_rule

# Study and name of a question.
Question = tuple[str, str]
# The estimate of a question rests on the answers of the erased person, and cannot be made again from its row.
NO_POSTERIOR: Mapping[str, Any] = {"posterior": {}, "posterior_method": "", "difficulty": None}
Answer = AcceptedInstance | DecidedQuestion | GivenResponse | GivenPrediction | DescribedImage
# Other rows name nobody and contain no text that a person wrote.
Row = Answer | PredictionConditions | NotedEvent


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question that the erased person answered.

    Its instance, the question as its rule sees it, and whether its study accepts and rejects.
    """

    key: str
    asked: VoteContext
    accepts: bool


@dataclass
class Changes:
    """Changes to frozen rows.

    `votes`, `answers`: remaining labels and number of answers of each question of `answered`. `decided`: the outcome
    that follows. `keys`: instances no longer accepted as before, by study. `asked_about`: questions made from answers
    of the person, which no longer have effects.
    """

    votes: dict[Question, dict[str, int]] = field(default_factory=dict)
    answers: dict[Question, int] = field(default_factory=dict)
    decided: dict[Question, tuple[str, str]] = field(default_factory=dict)
    keys: dict[str, set[str]] = field(default_factory=dict)
    answered: Mapping[Question, AnsweredQuestion] = field(default_factory=dict)
    asked_about: Set[Question] = frozenset()


def changes(
    rows: Iterable[tuple[RowType, Row]],
    *,
    workers: Set[str],
    answered: Mapping[Question, AnsweredQuestion],
    asked_about: Set[Question] = frozenset(),
) -> Changes:
    """Return the changes to frozen `rows` without `workers`.

    answered: the questions they answered. asked_about: the questions about their answers.
    """
    left: dict[Question, list[GivenResponse]] = {question: [] for question in answered}
    decisions: list[DecidedQuestion] = []
    for _, row in rows:
        if isinstance(row, GivenResponse) and row.counted and row.worker not in workers:
            if (row.study, row.task) in left:
                left[row.study, row.task].append(row)
        elif isinstance(row, DecidedQuestion) and (row.study, row.task) in left:
            decisions.append(row)
    found = Changes(answered=answered, asked_about=asked_about)
    for row in decisions:
        question = (row.study, row.task)
        answers = sorted(left[question], key=lambda answer: (answer.received_at, answer.label))
        found.votes[question] = dict(sorted(Counter(answer.label for answer in answers if answer.label).items()))
        found.answers[question] = len(answers)
        if row.settled:
            continue
        asked = answered[question].asked
        now = _decide_question(row, answers, replace(asked, wanted=row.wanted or asked.wanted))
        if now != (row.state, row.winner):
            found.decided[question] = now
            found.keys.setdefault(row.study, set()).add(answered[question].key)
    return found


def _decide_question(row: DecidedQuestion, answers: Sequence[GivenResponse], asked: VoteContext) -> tuple[str, str]:
    """Return the state and the winner by the remaining answers.

    A rule about outcomes elsewhere finds none in the rows: the question is then undecided, so that nothing stays
    accepted for an invisible reason.
    """
    if get_rule(row.rule).needs.downstream_outcome:
        return State.UNDECIDED.value, ""
    given = [Vote(answer.label, answer.whole_answer) for answer in answers]
    verdict = decide(row.rule, asked, given)
    return verdict.state.value, verdict.winner or ""


def remaining_rows(
    rows: Iterable[tuple[RowType, Row]], found: Changes, *, workers: Set[str], above: Mapping[str, Collection[str]]
) -> Iterator[tuple[RowType, Row]]:
    """Yield the rows without `workers`.

    above: upstream studies of each study of the rows. Drops instances that their study or an upstream one no longer
    accepts as before, and the predictions about them; downstream questions about them have no effects.
    """
    undone = {
        study: set().union(*(found.keys.get(each, set()) for each in feeding)) for study, feeding in above.items()
    }
    gone_by_key: dict[str, bool] = {}
    # The ends of the names of questions whose answers changed, which say what they are about.
    recounted = {task.rpartition("/")[2] for _, task in found.votes}
    for sort, row in rows:
        if isinstance(row, GivenResponse):
            if row.worker not in workers:
                # How many found it is unknown again where one of those who were asked has gone.
                is_known = row.retrievers is None or row.response not in recounted
                yield sort, row if is_known else replace(row, retrievers=None, found=None)
        elif isinstance(row, AcceptedInstance):
            stays = row.key not in undone.get(row.study, set()) and _is_still_accepted(row, found)
            # An instance with several items stays while one of them does.
            gone_by_key[row.key] = gone_by_key.get(row.key, True) and not stays
            if stays:
                yield sort, _recount_instance(row, found)
        elif isinstance(row, DescribedImage):
            if row.worker not in workers and _still_accepted(row, found):
                yield sort, row
        elif isinstance(row, DecidedQuestion):
            again = _update_decision(row, found)
            drawn_from_it = row.key in undone.get(row.study, set()) or (row.study, row.task) in found.asked_about
            # Rows frozen by an older version have neither outcome nor key.
            is_undone = bool(row.outcome) and drawn_from_it
            yield sort, replace(again, outcome=Outcome.UNDONE.value) if is_undone else again
        elif isinstance(row, GivenPrediction):
            # Instances come before predictions in the rows.
            if not gone_by_key.get(row.key, False):
                yield sort, row
        else:
            yield sort, row


def _is_still_accepted(row: AcceptedInstance, found: Changes) -> bool:
    """Whether every question that made an item accepted still does, with the same winner."""
    if not row.questions and row.key in found.keys.get(row.study, set()):
        return False
    asked = {(row.study, question.task) for question in row.questions} or {(row.study, row.task)}
    return not asked & (found.decided.keys() | found.asked_about)


def _still_accepted(row: DescribedImage, found: Changes) -> bool:
    """Whether the question that accepted a description still does; one that nobody was asked about stays."""
    state, _ = found.decided.get((row.study, row.task), (State.ACCEPTED.value, ""))
    return state == State.ACCEPTED


def _recount_instance(row: AcceptedInstance, found: Changes) -> AcceptedInstance:
    if not row.questions:
        left = found.votes.get((row.study, row.task))
        if left is None:
            return row
        return replace(row, votes=left, answers=found.answers[row.study, row.task], **NO_POSTERIOR)
    questions = tuple(_recount_question(row.study, question, found) for question in row.questions)
    votes = questions[0].votes if len(questions) == 1 else row.votes
    unestimated = {} if questions == tuple(row.questions) else NO_POSTERIOR
    answers = sum(each.answers for each in questions)
    return replace(row, questions=questions, votes=votes, answers=answers, **unestimated)


def _recount_question(study: str, question: AcceptedQuestion, found: Changes) -> AcceptedQuestion:
    asked = (study, question.task)
    if asked not in found.votes:
        return question
    return replace(question, votes=found.votes[asked], answers=found.answers[asked])


def _update_decision(row: DecidedQuestion, found: Changes) -> DecidedQuestion:
    question = (row.study, row.task)
    votes = found.votes.get(question)
    if votes is None:
        return row
    state, winner = found.decided.get(question, (row.state, row.winner))
    at = None if state == State.UNDECIDED else row.decided_at
    left = found.answers[question]
    changed = replace(row, votes=votes, answers=left, state=state, winner=winner, decided_at=at, **NO_POSTERIOR)
    return changed if row.wanted is None else _in_words(changed, row.wanted, accepts=found.answered[question].accepts)


def _in_words(row: DecidedQuestion, wanted: int, *, accepts: bool) -> DecidedQuestion:
    """Return `row` with the current outcome of its question."""
    undone = row.outcome == Outcome.UNDONE
    outcome = outcome_of_question(row.state, answers=row.answers, wanted=wanted, accepts=accepts, undone=undone)
    return replace(row, outcome=outcome.value, progress=progress_of(row.answers, wanted).value)

"""Frozen rows without somebody whom the law lets be forgotten: their answers, and what followed from them alone.

What is in the rows decides, not what a study holds today: answers that came after a release was frozen stay out of it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from analytics.outcomes import Outcome, State, outcome_of_question, progress_of
from results.exporting.base import Rows
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
from studies.kinds import KINDS, get_kind
from studies.rules import Vote, VoteContext, decide, get_rule

# The study that asked, and the name of the question in it.
Question = tuple[str, str]
Answer = AcceptedInstance | DecidedQuestion | GivenResponse | GivenPrediction | DescribedImage
# The others name nobody and hold nothing that somebody wrote.
Row = Answer | PredictionConditions | NotedEvent


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question that the forgotten person answered: about which instance, how many answers it wants, and whether its
    study accepts and rejects."""

    key: str
    wanted: int
    accepts: bool


@dataclass
class Changes:
    """What is to be changed in frozen rows.

    `votes`, `answers`: the labels of the answers that are left of each question of `answered`, and how many these are;
    `decided`: what follows from them; `keys`: the instances that are no longer accepted as they were, by study.
    `asked_about`: questions that were made from answers of the person, from which nothing follows any more.
    """

    votes: dict[Question, dict[str, int]] = field(default_factory=dict)
    answers: dict[Question, int] = field(default_factory=dict)
    decided: dict[Question, tuple[str, str]] = field(default_factory=dict)
    keys: dict[str, set[str]] = field(default_factory=dict)
    answered: Mapping[Question, AnsweredQuestion] = field(default_factory=dict)
    asked_about: Set[Question] = frozenset()


def changes(
    rows: Iterable[tuple[Rows, Row]],
    *,
    workers: Set[str],
    answered: Mapping[Question, AnsweredQuestion],
    asked_about: Set[Question] = frozenset(),
) -> Changes:
    """Return what frozen `rows` are to become without `workers`, who answered the questions `answered`, and about whose
    answers others were `asked_about`."""
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
        now = _decided_by(row, answers, row.wanted or answered[question].wanted)
        if now != (row.state, row.winner):
            found.decided[question] = now
            found.keys.setdefault(row.study, set()).add(answered[question].key)
    return found


def _decided_by(row: DecidedQuestion, answers: Sequence[GivenResponse], wanted: int) -> tuple[str, str]:
    """Return the state and the winner that follow from the answers that are left.

    A rule that looks at what became of the answers elsewhere finds nothing of that in the rows: the question is
    undecided then, so that nothing stays accepted for a reason that nobody can see any more.
    """
    if get_rule(row.rule).needs.downstream_outcome:
        return State.UNDECIDED.value, ""
    given = [Vote(answer.label, answer.whole_answer) for answer in answers]
    # Rows may have been frozen with a kind that this site does not have.
    rejecting = get_kind(row.kind).rejecting_options if row.kind in KINDS else frozenset[str]()
    asked = VoteContext(wanted, max(wanted, len(given)), row.right, rejecting=rejecting)
    verdict = decide(row.rule, asked, given)
    return verdict.state.value, verdict.winner or ""


def without(
    rows: Iterable[tuple[Rows, Row]], found: Changes, *, workers: Set[str], above: Mapping[str, Collection[str]]
) -> Iterator[tuple[Rows, Row]]:
    """Yield `rows` as they are without `workers`.

    above: for each study of the rows, those that fed it. An instance that its study or one above it no longer accepts
    as it did leaves the rows, with what models said about it, and nothing follows from a question about it further
    down.
    """
    undone = {
        study: set().union(*(found.keys.get(each, set()) for each in feeding)) for study, feeding in above.items()
    }
    gone_by_key: dict[str, bool] = {}
    for sort, row in rows:
        if isinstance(row, GivenResponse):
            if row.worker not in workers:
                yield sort, row
        elif isinstance(row, AcceptedInstance):
            stays = row.key not in undone.get(row.study, set()) and _accepted_as_before(row, found)
            # Several items may be parts of it, and it is there while one of them stays.
            gone_by_key[row.key] = gone_by_key.get(row.key, True) and not stays
            if stays:
                yield sort, _counted_again(row, found)
        elif isinstance(row, DescribedImage):
            if row.worker not in workers and _still_accepted(row, found):
                yield sort, row
        elif isinstance(row, DecidedQuestion):
            again = _decided_again(row, found)
            drawn_from_it = row.key in undone.get(row.study, set()) or (row.study, row.task) in found.asked_about
            # Rows that an older version froze say neither outcome nor key.
            is_undone = bool(row.outcome) and drawn_from_it
            yield sort, replace(again, outcome=Outcome.UNDONE.value) if is_undone else again
        elif isinstance(row, GivenPrediction):
            # Instances stand before predictions in the rows.
            if not gone_by_key.get(row.key, False):
                yield sort, row
        else:
            yield sort, row


def _accepted_as_before(row: AcceptedInstance, found: Changes) -> bool:
    """Tell whether every question that made an item accepted still does, with the same winner."""
    if not row.questions and row.key in found.keys.get(row.study, set()):
        return False
    asked = {(row.study, question.task) for question in row.questions} or {(row.study, row.task)}
    return not asked & (found.decided.keys() | found.asked_about)


def _still_accepted(row: DescribedImage, found: Changes) -> bool:
    """Tell whether the question that accepted a description still does; one that nobody was asked about stays."""
    state, _ = found.decided.get((row.study, row.task), (State.ACCEPTED.value, ""))
    return state == State.ACCEPTED


def _counted_again(row: AcceptedInstance, found: Changes) -> AcceptedInstance:
    if not row.questions:
        left = found.votes.get((row.study, row.task))
        return row if left is None else replace(row, votes=left, answers=found.answers[row.study, row.task])
    questions = tuple(_question_counted_again(row.study, question, found) for question in row.questions)
    votes = questions[0].votes if len(questions) == 1 else row.votes
    return replace(row, questions=questions, votes=votes, answers=sum(each.answers for each in questions))


def _question_counted_again(study: str, question: AcceptedQuestion, found: Changes) -> AcceptedQuestion:
    asked = (study, question.task)
    if asked not in found.votes:
        return question
    return replace(question, votes=found.votes[asked], answers=found.answers[asked])


def _decided_again(row: DecidedQuestion, found: Changes) -> DecidedQuestion:
    question = (row.study, row.task)
    votes = found.votes.get(question)
    if votes is None:
        return row
    state, winner = found.decided.get(question, (row.state, row.winner))
    at = None if state == State.UNDECIDED else row.decided_at
    left = found.answers[question]
    changed = replace(row, votes=votes, answers=left, state=state, winner=winner, decided_at=at)
    return changed if row.wanted is None else _in_words(changed, row.wanted, accepts=found.answered[question].accepts)


def _in_words(row: DecidedQuestion, wanted: int, *, accepts: bool) -> DecidedQuestion:
    """Return `row` with what has become of its question now."""
    undone = row.outcome == Outcome.UNDONE
    outcome = outcome_of_question(row.state, answers=row.answers, wanted=wanted, accepts=accepts, undone=undone)
    return replace(row, outcome=outcome.value, progress=progress_of(row.answers, wanted).value)

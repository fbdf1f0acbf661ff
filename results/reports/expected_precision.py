"""What a study will be able to tell: the intervals to expect, before it is launched."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analytics.intervals.expected_widths import (
    USUAL_ALPHA,
    USUAL_ICC,
    USUAL_ICC_OF_QUESTIONS,
    USUAL_RARE,
    USUAL_SHARE,
    Expected,
    expected_alpha,
    expected_share,
)
from results.reports.base import SEED, Cell, Column, Table
from results.reports.cells import limits_or_reason, value_or_reason
from results.reports.sections.people import FOUR, OF_FOUR

AS_PLANNED = "as planned"
HUMAN_SCORE, ALPHA = "Human score", "Krippendorff's alpha"


@dataclass(frozen=True)
class Kind:
    """A kind of question that a study will ask: so many about each instance; whether the right answer is known."""

    name: str
    each: int
    knows_answers: bool


@dataclass(frozen=True)
class ToCome:
    """What launching a study would make: so many people, if each takes one seat, and instances.

    answers: to each question; doubled: about how many of the instances twice as many answers are asked for.
    """

    kinds: Sequence[Kind]
    people: int
    instances: int
    answers: int
    doubled: int = 0

    @property
    def each(self) -> int:
        """About how many instances a person answers, on average."""
        return max(1, round((self.instances + self.doubled) * self.answers / self.people)) if self.people else 0

    @property
    def shared(self) -> tuple[int, int]:
        """How many instances get several answers to each question, and how many answers."""
        return (self.instances, self.answers) if self.answers > 1 else (self.doubled, 2)

    def scores(self) -> Mapping[str, int]:
        """Return the human scores there will be, and what one is right about once: so many things per instance.

        Of BiVLC's four questions each score counts an instance once; every other kind has a score of its own.
        """
        each = {kind.name: kind.each for kind in self.kinds if kind.knows_answers}
        if {(kind, index) for kind, n in each.items() for index in range(n)} >= set(FOUR):
            return {f"{HUMAN_SCORE} ({', '.join(OF_FOUR)})": 1}
        return {HUMAN_SCORE if len(each) == 1 else f"{HUMAN_SCORE} ({kind})": n for kind, n in each.items()}


def outlook_table(planned: ToCome) -> Table:
    """Return the intervals to expect of the human score and of agreement, as planned and with other numbers."""
    columns = [Column("What"), Column("With"), Column("People", "count"), Column("Questions", "count")]
    columns += [Column("Answers", "count"), Column("Expected 95 % interval", "coefficient")]
    columns.append(Column("Width", "coefficient"))
    rows: list[Sequence[Cell]] = []
    if planned.people and planned.instances:
        rows += [row for name, units in planned.scores().items() for row in _scores(planned, name, units)]
        rows += [row for kind in planned.kinds for row in _agreement(planned, kind)]
    notes = []
    if any(str(row[0]).startswith(HUMAN_SCORE) for row in rows):
        notes.append(
            f"Human score: if people are right on {USUAL_SHARE} of their questions, with an ICC of {USUAL_ICC} by "
            f"person and {USUAL_ICC_OF_QUESTIONS} by question, and each person takes one seat. "
            "Questions: what one person is right about once, an instance for I2T, T2I and Group."
        )
    if any(str(row[0]).startswith(ALPHA) for row in rows):
        notes.append(
            f"Agreement over other questions with the same people: if alpha is {USUAL_ALPHA} and one of two labels has "
            f"{USUAL_RARE} of the answers."
        )
    if notes:
        notes.append("By the code that makes the intervals of the results. Other assumptions give other widths.")
    return Table("outlook", "What this study will be able to tell", columns, rows, notes)


def _scores(planned: ToCome, name: str, units: int) -> Iterable[Sequence[Cell]]:
    people, each, answers = planned.people, planned.each * units, planned.answers
    for said, n, questions in (
        (AS_PLANNED, people, each),
        ("half the people", max(1, people // 2), each),
        ("twice the people", 2 * people, each),
        ("half the questions each", people, max(1, each // 2)),
        ("twice the questions each", people, 2 * each),
    ):
        expected = expected_share(n, questions, answers, per_instance=units)
        yield _row(name, said, n, round(n * questions / answers), n * questions, expected)


def _agreement(planned: ToCome, kind: Kind) -> Iterable[Sequence[Cell]]:
    """Yield what is to be expected of one kind: agreement is never told over several."""
    instances, answers = planned.shared
    planned_questions = instances * kind.each
    if not planned_questions:
        return
    name = ALPHA if len(planned.kinds) == 1 else f"{ALPHA} ({kind.name})"
    for said, questions in (
        (AS_PLANNED, planned_questions),
        ("half the questions", max(1, planned_questions // 2)),
        ("twice the questions", 2 * planned_questions),
    ):
        expected = expected_alpha(questions, answers, seed=SEED)
        yield _row(name, said, None, questions, questions * answers, expected)


def _row(what: str, said: str, people: int | None, questions: int, answers: int, expected: Expected) -> Sequence[Cell]:
    return (
        *(what, said, people, questions, answers),
        limits_or_reason(expected.low, expected.high, expected.reason),
        value_or_reason(expected.width, expected.reason),
    )

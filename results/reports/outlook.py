"""What a study will be able to tell: the intervals to expect, before it is launched."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analytics.planning import (
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

AS_PLANNED = "as planned"


@dataclass(frozen=True)
class ToCome:
    """What launching a study would make: so many people, if each takes one seat, and questions with so many answers."""

    knows_answers: bool
    people: int
    questions: int
    answers: int

    @property
    def each(self) -> int:
        """How many questions a person answers, on average."""
        return max(1, round(self.questions * self.answers / self.people)) if self.people else 0


def outlook_table(planned: ToCome) -> Table:
    """Return the intervals to expect of the human score and of agreement, as planned and with other numbers."""
    columns = [Column("What"), Column("With"), Column("People", "count"), Column("Questions", "count")]
    columns += [Column("Answers", "count"), Column("Expected 95 % interval", "coefficient")]
    columns.append(Column("Width", "coefficient"))
    rows: list[Sequence[Cell]] = []
    if planned.people and planned.questions:
        rows += _scores(planned) if planned.knows_answers else []
        rows += _agreement(planned) if planned.answers > 1 else []
    notes = []
    if any(row[0] == HUMAN_SCORE for row in rows):
        notes.append(
            f"Human score: if people are right on {USUAL_SHARE} of their questions, with an ICC of {USUAL_ICC} by "
            f"person and {USUAL_ICC_OF_QUESTIONS} by question, and each person takes one seat."
        )
    if any(row[0] == ALPHA for row in rows):
        notes.append(
            f"Agreement over other questions with the same people: if alpha is {USUAL_ALPHA} and one of two labels has "
            f"{USUAL_RARE} of the answers."
        )
    if notes:
        notes.append("By the code that makes the intervals of the results. Other assumptions give other widths.")
    return Table("outlook", "What this study will be able to tell", columns, rows, notes)


HUMAN_SCORE, ALPHA = "Human score", "Krippendorff's alpha"


def _scores(planned: ToCome) -> Iterable[Sequence[Cell]]:
    people, each, answers = planned.people, planned.each, planned.answers
    for said, n, questions in (
        (AS_PLANNED, people, each),
        ("half the people", max(1, people // 2), each),
        ("twice the people", 2 * people, each),
        ("half the questions each", people, max(1, each // 2)),
        ("twice the questions each", people, 2 * each),
    ):
        expected = expected_share(n, questions, answers)
        yield _row(HUMAN_SCORE, said, n, round(n * questions / answers), n * questions, expected)


def _agreement(planned: ToCome) -> Iterable[Sequence[Cell]]:
    for said, questions in (
        (AS_PLANNED, planned.questions),
        ("half the questions", max(1, planned.questions // 2)),
        ("twice the questions", 2 * planned.questions),
    ):
        expected = expected_alpha(questions, planned.answers, seed=SEED)
        yield _row(ALPHA, said, None, questions, questions * planned.answers, expected)


def _row(what: str, said: str, people: int | None, questions: int, answers: int, expected: Expected) -> Sequence[Cell]:
    return (
        *(what, said, people, questions, answers),
        limits_or_reason(expected.low, expected.high, expected.reason),
        value_or_reason(expected.width, expected.reason),
    )

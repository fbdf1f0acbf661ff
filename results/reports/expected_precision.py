"""Expected precision of a study before launch: the expected widths of its intervals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analytics.intervals.expected_widths import (
    USUAL_ALPHA,
    USUAL_ICC,
    USUAL_ICC_OF_QUESTIONS,
    USUAL_RARE,
    USUAL_SHARE,
    ExpectedInterval,
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
    """A kind of question in a planned study: its number per instance, and whether the right answer is known."""

    name: str
    each: int
    knows_answers: bool


@dataclass(frozen=True)
class PlannedStudy:
    """The result of a launch: the number of people, if each takes one seat, and of instances.

    answers: per question. doubled: number of instances with twice as many answers.
    """

    kinds: Sequence[Kind]
    people: int
    instances: int
    answers: int
    doubled: int = 0

    @property
    def each(self) -> int:
        """Mean number of instances per person."""
        return max(1, round((self.instances + self.doubled) * self.answers / self.people)) if self.people else 0

    @property
    def shared_counts(self) -> tuple[int, int]:
        """Return the number of instances with several answers to each question, and the number of answers."""
        return (self.instances, self.answers) if self.answers > 1 else (self.doubled, 2)

    def scores(self) -> Mapping[str, int]:
        """Return the human scores to expect, with their units per instance.

        Each score of BiVLC's four questions counts an instance once; every other kind has its own score.
        """
        each = {kind.name: kind.each for kind in self.kinds if kind.knows_answers}
        if {(kind, index) for kind, n in each.items() for index in range(n)} >= set(FOUR):
            return {f"{HUMAN_SCORE} ({', '.join(OF_FOUR)})": 1}
        return {HUMAN_SCORE if len(each) == 1 else f"{HUMAN_SCORE} ({kind})": n for kind, n in each.items()}


def expected_precision_table(planned: PlannedStudy) -> Table:
    """Return the expected intervals of the human score and of agreement, as planned and with other numbers."""
    columns = [Column("Measure"), Column("Design"), Column("People", "count"), Column("Questions", "count")]
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
            f"person and {USUAL_ICC_OF_QUESTIONS} by question, and each person takes one place. "
            "Questions: what one person is right about once, an instance for I2T, T2I and Group."
        )
    if any(str(row[0]).startswith(ALPHA) for row in rows):
        notes.append(
            f"Agreement over other questions with the same people: if alpha is {USUAL_ALPHA} and one of two labels has "
            f"{USUAL_RARE} of the answers."
        )
    if notes:
        notes.append(
            "Simulated with the same code as the intervals of the results. Other assumptions give other widths."
        )
    return Table("outlook", "Expected precision", columns, rows, notes)


def _scores(planned: PlannedStudy, name: str, units: int) -> Iterable[Sequence[Cell]]:
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


def _agreement(planned: PlannedStudy, kind: Kind) -> Iterable[Sequence[Cell]]:
    """Yield the expectations for one kind: agreement is never computed over several."""
    instances, answers = planned.shared_counts
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


def _row(
    what: str, said: str, people: int | None, questions: int, answers: int, expected: ExpectedInterval
) -> Sequence[Cell]:
    return (
        *(what, said, people, questions, answers),
        limits_or_reason(expected.low, expected.high, expected.reason),
        value_or_reason(expected.width, expected.reason),
    )

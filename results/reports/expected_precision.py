"""Expected precision of a study before launch: the expected widths of its intervals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

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
from results.reports.base import SEED, Cell, Column, Table, Undefined
from results.reports.cells import limits_or_reason
from results.reports.sections.people import FOUR, OF_FOUR

AS_PLANNED = "as planned"
HUMAN_SCORE, ALPHA = "Human score", "Krippendorff's alpha"
_DESIGN = (Column("Measure"), Column("Design"))
_COUNTS = (Column("Questions", "count"), Column("Answers", "count"))
_SIMULATED = "Simulated with the same code as the intervals of the results. Other assumptions give other intervals."


@dataclass(frozen=True)
class Kind:
    """A kind of question in a planned study: its number per instance, and whether the right answer is known."""

    name: str
    each: int
    knows_answers: bool


@dataclass(frozen=True)
class PlannedStudy:
    """The result of a launch: the number of people, if each takes one seat, and of instances.

    answers: per question. doubled: number of instances with twice as many answers. has_more: whether the project may
    have more instances to ask about.
    """

    kinds: Sequence[Kind]
    people: int
    instances: int
    answers: int
    doubled: int = 0
    has_more: bool = True

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


def expected_precision_tables(planned: PlannedStudy) -> list[Table]:
    """Return the expected intervals of the human score and of agreement, as planned and with other numbers.

    A table for each, without those that have no row.
    """
    if not planned.people or not planned.instances:
        return []
    scores = Table(
        "expected-score",
        "Expected precision of the human score",
        [*_DESIGN, Column("People", "count"), *_COUNTS, Column("Expected 95 % interval", "share")],
        [row for name, units in planned.scores().items() for row in _scores(planned, name, units)],
        [
            f"If people are right on {100 * USUAL_SHARE:.0f} % of their questions, with an ICC of {USUAL_ICC} by "
            f"person and {USUAL_ICC_OF_QUESTIONS} by question, and each person takes one place. "
            "Questions: what one person is right about once, an instance for I2T, T2I and Group.",
            _SIMULATED,
        ],
    )
    agreement = Table(
        "expected-agreement",
        "Expected precision of agreement",
        [*_DESIGN, *_COUNTS, Column("Expected 95 % interval", "coefficient")],
        [row for kind in planned.kinds for row in _agreement(planned, kind)],
        [
            f"The interval is for other questions to the same people. It assumes an alpha of {USUAL_ALPHA} and two "
            f"labels, one of them with {100 * USUAL_RARE:.0f} % of the answers.",
            _SIMULATED,
        ],
    )
    return [_without_empty_rows(table) for table in (scores, agreement) if table.rows]


def _without_empty_rows(table: Table) -> Table:
    """Return `table` without rows that have no interval; a note says which and why."""
    reasons: dict[str, list[str]] = {}
    for row in table.rows:
        if isinstance(row[-1], Undefined):
            reasons.setdefault(row[-1].reason, []).append(str(row[1]))
    notes = [
        f"{', '.join(dict.fromkeys(designs)).capitalize()}: {reason[0].lower()}{reason[1:]}"
        for reason, designs in reasons.items()
    ]
    rows = [row for row in table.rows if not isinstance(row[-1], Undefined)]
    if not rows:
        return replace(table, rows=rows, notes=[f"{table.title}: no interval. {next(iter(reasons))}"])
    return replace(table, rows=rows, notes=[*notes, *table.notes])


def _scores(planned: PlannedStudy, name: str, units: int) -> Iterable[Sequence[Cell]]:
    people, each, answers = planned.people, planned.each * units, planned.answers
    half = max(1, people // 2)
    designs = [
        (AS_PLANNED, people, each, answers),
        # The same questions, each asked of half or twice as many people.
        ("with half the people", half, each, max(1, answers * half // people)),
        ("with twice the people", 2 * people, each, 2 * answers),
        ("with half the questions each", people, max(1, each // 2), answers),
    ]
    if planned.has_more:
        designs.append(("with twice the questions each", people, 2 * each, answers))
    for said, n, questions, of_each in designs:
        expected = expected_share(n, questions, of_each, per_instance=units)
        yield name, said, n, round(n * questions / of_each), n * questions, _interval(expected)


def _agreement(planned: PlannedStudy, kind: Kind) -> Iterable[Sequence[Cell]]:
    """Yield the expectations for one kind: agreement is never computed over several."""
    instances, answers = planned.shared_counts
    planned_questions = instances * kind.each
    if not planned_questions:
        return
    name = ALPHA if len(planned.kinds) == 1 else f"{ALPHA} ({kind.name})"
    designs = [(AS_PLANNED, planned_questions), ("with half the questions", max(1, planned_questions // 2))]
    if planned.has_more or 2 * instances <= planned.instances:
        designs.append(("with twice the questions", 2 * planned_questions))
    for said, questions in designs:
        expected = expected_alpha(questions, answers, seed=SEED)
        yield name, said, questions, questions * answers, _interval(expected)


def _interval(expected: ExpectedInterval) -> Cell:
    return limits_or_reason(expected.low, expected.high, expected.reason)

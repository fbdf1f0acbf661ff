"""How annotators did in gold questions, instruction checks and repeated questions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from results.reports.base import Cell, Column, Table, Undefined

NOTES = (
    "Answers to checks count nowhere else; they are paid like others.",
    "Gold: a right answer is known. Instruction: the text names the option to choose. Repeat: the same person gets the "
    "question a second time, with its options in a new order. The share of equal answers is the agreement with "
    "oneself.",
    "Few checks say little about one person. A failed gold question is no reason to reject a submission.",
)
NO_RESULT = "None of these questions has two answers to compare yet."
# Type of check -> title of the column with its share, and of the one with its number.
TITLES: Mapping[str, tuple[str, str]] = {
    "gold": ("Gold right", "Gold questions"),
    "instruction": ("Instructions followed", "Instruction checks"),
    "repeat": ("Repeats the same", "Repeats"),
}


@dataclass(frozen=True)
class CheckRow:
    """The checks of one person or study: type -> how many were passed, and of how many."""

    name: Cell
    checks: Mapping[str, tuple[int, int]]


def checks_table(first: str, rows: Sequence[CheckRow], *, together: str = "") -> Table:
    """Return a row for each of `rows`, without the types of checks that nobody answered; `first` names the rows.

    together: the name of a first row for the sum of several rows; "" for none.
    """
    if together and len(rows) > 1:
        rows = [CheckRow(together, {check: _sum(row.checks[check] for row in rows) for check in TITLES}), *rows]
    asked = [check for check in TITLES if any(row.checks[check][1] for row in rows)]
    columns = [Column(first)]
    for check in asked:
        share, number = TITLES[check]
        columns += [Column(share, "percent"), Column(number, "count")]
    cells = [(row.name, *(cell for check in asked for cell in _cells(*row.checks[check]))) for row in rows]
    return Table("checks", "Checks of answers", columns, cells if asked else [], NOTES)


def _sum(counted: Iterable[tuple[int, int]]) -> tuple[int, int]:
    counted = list(counted)
    return sum(passed for passed, _ in counted), sum(of for _, of in counted)


def _cells(passed: int, of: int) -> tuple[Cell, Cell]:
    return (passed / of if of else Undefined(NO_RESULT)), of

"""Tables as text: every number rounded once, half up, from its exact value."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from results.reports.base import Cell, LinkedCount, Range, Shown, Table, Undefined

_TWO = Decimal("0.01")
_THREE = Decimal("0.001")


@dataclass(frozen=True)
class TextTable:
    """A table ready to be written: `rows` of text and `reasons`, which cells cite as (a), (b) and so on.

    Per cell: `queries`: the query of the instances of a count, starting with a question mark, else "". `explained`:
    what is listed, if it differs from what was counted, else "". `instances`: the number listed, else 0.
    """

    table: Table
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    reasons: Sequence[str]
    queries: Sequence[Sequence[str]]
    explained: Sequence[Sequence[str]]
    instances: Sequence[Sequence[int]]

    @property
    def is_number(self) -> Sequence[bool]:
        return [column.shown != "text" for column in self.table.columns]

    @property
    def remarks(self) -> list[str]:
        """Return the notes of the table, then why numbers are undefined."""
        return [*self.table.notes, *(f"({_letter(index)}) {reason}" for index, reason in enumerate(self.reasons))]


def text_table(table: Table) -> TextTable:
    reasons: list[str] = []

    def text(cell: Cell, shown: Shown) -> str:
        if not isinstance(cell, Undefined):
            return cell_text(cell, shown)
        if cell.reason not in reasons:
            reasons.append(cell.reason)
        return f"undefined ({_letter(reasons.index(cell.reason))})"

    rows = [[text(cell, column.shown) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]
    headings = [f"{column.title} (%)" if column.shown == "share" else column.title for column in table.columns]
    # Zeros have no link.
    queries = [
        [f"?{cell.query}" if isinstance(cell, LinkedCount) and cell else "" for cell in row] for row in table.rows
    ]
    explained = [
        [cell.explained if isinstance(cell, LinkedCount) and cell else "" for cell in row] for row in table.rows
    ]
    instances = [[cell.instances if isinstance(cell, LinkedCount) else 0 for cell in row] for row in table.rows]
    return TextTable(table, headings, rows, reasons, queries, explained, instances)


def _letter(index: int) -> str:
    return chr(ord("a") + index) if index < 26 else str(index + 1)


def cell_text(cell: Cell, shown: Shown) -> str:
    """Return the displayed text of a cell; "" if it does not apply.

    Example: the share 0.00125 is "0.13", the count 7512 is "7,512", the p 0.0002 is "< 0.001".
    """
    if cell is None:
        return ""
    if isinstance(cell, Range):
        return f"{cell_text(cell.low, shown)} to {cell_text(cell.high, shown)}"
    if isinstance(cell, str) or shown == "text":
        return str(cell)
    if isinstance(cell, Undefined):
        return "undefined"
    value = cell if isinstance(cell, Decimal) else Decimal(repr(cell))
    if shown == "count":
        return f"{value:,}"
    if shown == "share":
        return str(_rounded(100 * value, _TWO))
    if shown == "p":
        return "< 0.001" if value < _THREE else str(_rounded(value, _THREE))
    return f"{_rounded(value, _TWO):,}"


def _rounded(value: Decimal, digits: Decimal) -> Decimal:
    # Adding zero makes a negative zero positive.
    return value.quantize(digits, ROUND_HALF_UP) + 0

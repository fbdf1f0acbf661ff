"""Tables as text: every number rounded once, half up, from its exact value."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from results.reports.base import AnnotatorName, Bar, Cell, LinkedCount, Positions, Range, Shown, Table, Undefined
from results.reports.explorer_links import ALL

NOT_DEFINED = "—"
NO_BREAK = "\N{NO-BREAK SPACE}"
# The column of types, and its text for instances without one.
TYPE, NO_TYPE = "Type", "no type"
# The beginning of a digest at the end of a model's name.
_WEIGHTS = re.compile(r" \([0-9a-f]{12}\)$")
_ONE = Decimal("0.1")
_TWO = Decimal("0.01")
_THREE = Decimal("0.001")


@dataclass(frozen=True)
class TextCell:
    """A cell ready to be shown.

    `reason`: why a number is undefined, else "". `query`: the query of the list of a count's instances, starting with a
    question mark, else "". `tooltip`: what is listed, if it differs from what was counted. `instances`: the number
    listed. `is_person`: it is the name of an annotator. `bar`: value, low and high of a bar, `columns`: heights of
    columns, each from 0 to 1.
    """

    text: str
    reason: str = ""
    query: str = ""
    tooltip: str = ""
    instances: int = 0
    is_person: bool = False
    bar: Sequence[float] = ()
    columns: Sequence[float] = ()


@dataclass(frozen=True)
class TextTable:
    """A table ready to be written."""

    table: Table
    headings: Sequence[str]
    cells: Sequence[Sequence[TextCell]]

    @property
    def is_number(self) -> Sequence[bool]:
        return [column.shown != "text" for column in self.table.columns]

    @property
    def reasons(self) -> list[str]:
        """The reasons why numbers are undefined, each once."""
        return list(dict.fromkeys(cell.reason for row in self.cells for cell in row if cell.reason))

    @property
    def rows(self) -> list[list[str]]:
        """The text of each row. Undefined numbers cite their reason as (a), (b) and so on."""
        letters = {reason: _letter(index) for index, reason in enumerate(self.reasons)}
        return [
            [f"{cell.text} ({letters[cell.reason]})" if cell.reason else cell.text for cell in row]
            for row in self.cells
        ]

    @property
    def remarks(self) -> list[str]:
        """The notes of the table, then why numbers are undefined."""
        return [*self.table.notes, *(f"({_letter(index)}) {reason}" for index, reason in enumerate(self.reasons))]


def category_label(category: tuple[str, str]) -> str:
    """Return a type and subtype as a label."""
    type, subtype = category
    return ALL if category == (ALL, ALL) else f"{type or NO_TYPE} {subtype}".rstrip()


def short_model_names(names: Iterable[str]) -> dict[str, str]:
    """Return model -> its name without its weights, or its full name if several share the short one.

    Example: "CLIP 1 (d26faefd4fad)" is "CLIP 1".
    """
    known = list(dict.fromkeys(names))
    short = {name: _WEIGHTS.sub("", name) for name in known}
    several = Counter(short.values())
    return {name: short[name] if several[short[name]] == 1 else name for name in known}


def text_table(table: Table) -> TextTable:
    headings = [
        f"{column.title} (%)" if column.shown in {"share", "percent"} else column.title for column in table.columns
    ]
    cells = [
        [
            TextCell(NO_TYPE) if cell == "" and column.title == TYPE else _text_cell(cell, column.shown)
            for cell, column in zip(row, table.columns, strict=True)
        ]
        for row in table.rows
    ]
    return TextTable(table, headings, cells)


def _text_cell(cell: Cell, shown: Shown) -> TextCell:
    text = cell_text(cell, shown)
    if isinstance(cell, Undefined):
        return TextCell(text, reason=cell.reason)
    # Zeros have no link.
    if isinstance(cell, LinkedCount) and cell:
        return TextCell(text, query=f"?{cell.query}", tooltip=cell.tooltip, instances=cell.instances)
    if isinstance(cell, Bar) and cell.most:
        ends = (cell if cell.low is None else cell.low, cell if cell.high is None else cell.high)
        return TextCell(text, bar=[round(min(each / cell.most, 1), 3) for each in (cell, *ends)])
    if isinstance(cell, Positions):
        return TextCell(text, columns=[round(count / max(cell.counts), 3) for count in cell.counts])
    return TextCell(text, is_person=isinstance(cell, AnnotatorName))


def _letter(index: int) -> str:
    return chr(ord("a") + index) if index < 26 else str(index + 1)


def cell_text(cell: Cell, shown: Shown) -> str:
    """Return the displayed text of a cell; "" if it does not apply.

    Example: the share 0.00125 is "0.13", the count 7512 is "7,512", the p 0.0002 is "< 0.001", in one line.
    """
    if cell is None:
        return ""
    if isinstance(cell, Range):
        return range_text(cell.low, cell.high, shown)
    if isinstance(cell, str) or shown == "text":
        return str(cell)
    if isinstance(cell, Undefined):
        return NOT_DEFINED
    value = _exact(cell)
    if shown == "count":
        return f"{value:,}"
    if shown == "share":
        return str(_round(100 * value, _TWO))
    if shown == "percent":
        return str(_round(100 * value, _ONE))
    if shown == "p":
        return f"<{NO_BREAK}0.001" if value < _THREE else str(_round(value, _THREE))
    return f"{_round(value, _TWO):,}"


def p_text(p: Cell) -> str:
    """Return a p-value for sentences, with no-break spaces. Example: 0.0004 is "p < 0.001", 0.0215 is "p = 0.022"."""
    said = cell_text(p, "p")
    return f"p{NO_BREAK}{said}" if said.startswith("<") else f"p{NO_BREAK}={NO_BREAK}{said}"


def range_text(low: float, high: float, shown: Shown) -> str:
    """Return an interval: with an en dash, or with "to" where a number is negative."""
    ends = cell_text(low, shown), cell_text(high, shown)
    return " to ".join(ends) if any(end.startswith("-") for end in ends) else "–".join(ends)


def percent(share: float) -> str:
    """Return a share for sentences. Example: 0.8675 is "86.8 %"."""
    return f"{_round(100 * _exact(share), _ONE)} %"


def percent_range(low: float, high: float) -> str:
    """Return the interval of a share for sentences. Example: "84.1–89.2"; "-3.0 to 1.2" with a negative number."""
    ends = [str(_round(100 * _exact(end), _ONE)) for end in (low, high)]
    return " to ".join(ends) if low < 0 else "–".join(ends)


def _exact(value: float | Decimal) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(repr(value))


def _round(value: Decimal, digits: Decimal) -> Decimal:
    # Adding zero makes a negative zero positive.
    return value.quantize(digits, ROUND_HALF_UP) + 0

"""The parts that sentences of cards are made of: numbers with their units, and names."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from results.reports.base import Cell, Range, Shown, Table
from results.reports.text import cell_text, percent_range, range_text
from studies.kinds import KINDS, get_kind

Row = Mapping[str, Cell]
# Further parts are in the table only.
MOST_NAMED = 3
_PLURALS = {"person": "people", "study": "studies"}


def rows_of(table: Table) -> list[Row]:
    """Return the rows of `table`, each as title of the column -> cell."""
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for row in table.rows]


def interval_text(found: Cell, shown: Shown = "share") -> str:
    """Return "95 % CI 84.1–89.2; ", or nothing without an interval."""
    if not isinstance(found, Range):
        return ""
    ends = percent_range(found.low, found.high) if shown == "share" else range_text(found.low, found.high, shown)
    return f"95 % CI {ends}; "


def count_text(n: Cell, unit: str) -> str:
    return f"{cell_text(n, 'count')} {unit if n == 1 else _PLURALS.get(unit, f'{unit}s')}"


def is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float | Decimal)


def number_of(cell: Cell) -> float:
    """Return a cell that is a number. Raises TypeError for others."""
    if not isinstance(cell, int | float | Decimal):
        raise TypeError(cell)
    return float(cell)


def name_rows(said: Sequence[tuple[Row, str]], *titles: str) -> str:
    """Return the sentences about the first rows, each after the cells that distinguish it from the others."""
    rows = [row for row, _ in said]
    parts = [(_name_row(row, rows, titles), words) for row, words in said[:MOST_NAMED]]
    more = f" The table has {len(said) - MOST_NAMED} more." if len(said) > MOST_NAMED else ""
    return _join_parts([f"{names}: {words}" if names else words for names, words in parts]) + more


def _name_row(row: Row, rows: Sequence[Row], titles: Iterable[str]) -> str:
    names: list[str] = []
    for title in titles:
        alike = [each for each in rows if each[title] == row[title]]
        if len(alike) < len(rows):
            name = name_of(title, row)
            names.append(name if names or title != "Kind" else f"{name[:1].upper()}{name[1:]}")
        rows = alike
    return ", ".join(names)


def name_of(title: str, row: Row) -> str:
    """Return the cell under `title` as words: kinds by their titles, roles without underscores, and no full stop."""
    name = str(row[title])
    if title == "Kind":
        return kind_of(name)
    if title == "Study":
        return name
    parts = name.removesuffix(".").split(": ")
    return ": ".join(part.replace("_", " ") if part.isidentifier() else part for part in parts)


def kind_of(name: str) -> str:
    """Return the title of a kind for the middle of a sentence."""
    title = get_kind(name).title if name in KINDS else name
    return f"{title[:1].lower()}{title[1:]}"


def _join_parts(parts: Sequence[str]) -> str:
    """Return parts, each a sentence or several, on a line each."""
    return "\n".join(f"{part}." for part in parts)


def join_names(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]


def join_first(names: Sequence[str], most: int, unit: str) -> str:
    """Join names, at most so many, and the number of the others. unit: what they are names of."""
    others = len(names) - most
    return join_names([*names[:most], count_text(others, f"other {unit}")] if others > 0 else names)


def first_row(rows: Iterable[Row], **wanted: Cell) -> Row | None:
    return next((row for row in rows if all(row.get(name) == value for name, value in wanted.items())), None)

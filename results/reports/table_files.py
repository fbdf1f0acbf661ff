"""Files of a single table: `csv` with exact values where they are known, and `tex`."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping

from results.reports.base import Cell, Column, Range, Table, Undefined
from results.reports.formats.tex import table_text
from results.reports.page_tables import PageTable
from results.reports.text import TextTable, text_table


def _csv(table: Table) -> str:
    """Return the exact values; an interval has two columns, an undefined number is empty."""
    ranges = {place for row in table.rows for place, cell in enumerate(row) if isinstance(cell, Range)}
    titles = (
        name
        for place, column in enumerate(table.columns)
        for name in ([f"{column.title}, low", f"{column.title}, high"] if place in ranges else [column.title])
    )
    rows = ((value for place, cell in enumerate(row) for value in _values(cell, place in ranges)) for row in table.rows)
    return _rows([titles, *rows])


def _values(cell: Cell, is_range: bool) -> Iterator[object]:
    if isinstance(cell, Range):
        yield from (cell.low, cell.high)
        return
    yield "" if cell is None or isinstance(cell, Undefined) else cell
    if is_range:
        yield ""


def _rows(rows: Iterable[Iterable[object]]) -> str:
    output = io.StringIO()
    csv.writer(output, lineterminator="\n").writerows(rows)
    return output.getvalue()


def _stored_csv(table: PageTable) -> str:
    return _rows([table.headings, *([cell.text for cell in row] for row in table.cells)])


def _stored_tex(table: PageTable) -> str:
    columns = [Column(title, "count" if is_number else "text") for title, is_number in table.columns]
    return table_text(TextTable(Table(table.name, table.title, columns, [], table.notes), table.headings, table.cells))


WRITERS: Mapping[str, Callable[[Table], str]] = {"csv": _csv, "tex": lambda table: table_text(text_table(table))}
# Of tables whose texts are stored, because computing them takes too long for a page.
STORED_WRITERS: Mapping[str, Callable[[PageTable], str]] = {"csv": _stored_csv, "tex": _stored_tex}

"""Files of a single table: `csv` with exact values, and `tex`."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping

from results.reports.base import Cell, Range, Table, Undefined
from results.reports.formats.tex import table_text


def _csv(table: Table) -> str:
    """Return the exact values; an interval has two columns, an undefined number is empty."""
    ranges = {place for row in table.rows for place, cell in enumerate(row) if isinstance(cell, Range)}
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    titles = [column.title for column in table.columns]
    writer.writerow(
        name
        for place, title in enumerate(titles)
        for name in ([f"{title}, low", f"{title}, high"] if place in ranges else [title])
    )
    for row in table.rows:
        writer.writerow(value for place, cell in enumerate(row) for value in _values(cell, place in ranges))
    return output.getvalue()


def _values(cell: Cell, is_range: bool) -> Iterator[object]:
    if isinstance(cell, Range):
        yield from (cell.low, cell.high)
        return
    yield "" if cell is None or isinstance(cell, Undefined) else cell
    if is_range:
        yield ""


WRITERS: Mapping[str, Callable[[Table], str]] = {"csv": _csv, "tex": table_text}

"""CSV that is safe in a spreadsheet."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

# A spreadsheet runs a cell that starts with one of these as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


class _Line:
    """File-like target of csv that returns each line."""

    def write(self, line: str) -> str:
        return line


def csv_lines(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Yield the lines of a table as CSV, one row at a time."""
    table = csv.writer(_Line())
    yield table.writerow(header)
    for row in rows:
        yield table.writerow(map(cell, row))


def cell(value: Any) -> Any:
    """Return the cell for `value`: lists and objects as JSON, None as an empty cell.

    Text that a spreadsheet would run as a formula gets an apostrophe in front, so that it is shown and not run; readers
    of the stored text use the JSONL file. Numbers stay numbers.

    Example: "=1+1" becomes "'=1+1"; -1 stays -1.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return "'" + value
    return value

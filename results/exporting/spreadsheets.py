"""Cells of a CSV file that people may open in a spreadsheet."""

import json
from typing import Any

# A spreadsheet takes a cell that begins with one of these for a formula and runs it.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def cell(value: Any) -> Any:
    """Return what stands in the cell for `value`: lists and objects as JSON, None as an empty cell.

    Text that a spreadsheet would run as a formula gets an apostrophe in front, so the cell shows it and runs
    nothing; a reader that needs the text as stored takes the JSONL file. Numbers stay numbers.

    Example: "=1+1" becomes "'=1+1"; -1 stays -1.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return "'" + value
    return value

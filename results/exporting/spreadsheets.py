"""CSV cells that are safe in a spreadsheet."""

import json
from typing import Any

# A spreadsheet runs a cell that starts with one of these as a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


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

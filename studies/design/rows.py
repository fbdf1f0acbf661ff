"""A list of a study file with other rows in it: those that stay keep their text and their comments. Pure."""

from collections.abc import Sequence
from typing import Any

import yaml

from studies.design.dumping import in_lines
from studies.design.extents import end_of, end_of_line, start_of_line


def with_rows(source: str, key: yaml.Node, listed: yaml.Node, before: Any, after: Sequence[Any]) -> str | None:
    """Return the text with the rows `after` in place of those that the list says, `before`.

    key: the name before the list. Rows that stay may change places. None for what is no list of lines, or has none of
    its rows in `after`, so that no text can be kept.
    """
    if not isinstance(listed, yaml.SequenceNode) or listed.flow_style or not isinstance(before, list) or not after:
        return None
    column = listed.start_mark.column
    texts = _texts(source, key, listed, column)
    if texts is None:
        return None
    left: dict[str, list[int]] = {}
    for number in reversed(range(len(before))):
        left.setdefault(_written(before[number]), []).append(number)
    rows: list[str] = []
    kept: list[int | None] = []
    for value in after:
        numbers = left.get(_written(value))
        place = numbers.pop() if numbers else None
        kept.append(place)
        rows.append(_new(value, column) if place is None else texts[place][1])
    if kept == [None] * len(after):
        return None
    starts, first = [start for start, _ in texts], texts[0][1]
    end = starts[-1] + len(texts[-1][1])
    if 0 not in kept:
        # What is said above a list is of the list, as long as its first row is not somewhere else.
        rows.insert(0, first[: start_of_line(first, _first_dash(first, column))].removesuffix("\n"))
    # A row that had a line end keeps it at the end of a file that has none: a text of many lines would lose it.
    below = source[end:] or ("" if kept[-1] in (None, len(before) - 1) else "\n")
    return source[: starts[0]] + "\n".join(row for row in rows if row) + below


def _written(value: Any) -> str:
    """Return what tells values apart that are written otherwise: True is 1, and 1 is 1.0."""
    return repr(value)


def _texts(source: str, key: yaml.Node, listed: yaml.SequenceNode, column: int) -> list[tuple[int, str]] | None:
    """Return where the lines of each row begin, with all that stands between it and the row above, and what they say,
    without their last line end; None where rows do not have lines of their own."""
    starts, ends = [], []
    least = end_of_line(source, key.end_mark.index) + 1
    for row in listed.value:
        dash = _dash(source, row, column, least)
        if dash is None:
            return None
        starts.append(least)
        end = end_of_line(source, max(dash, end_of(source, row)))
        while _is_comment_within(line := source[end + 1 : end_of_line(source, end + 1)], column):
            end += 1 + len(line)
        ends.append(end)
        least = end + 1
    return [(start, source[start:end]) for start, end in zip(starts, ends, strict=True)]


def _dash(source: str, row: yaml.Node, column: int, least: int) -> int | None:
    """Return where the dash of a row stands, on its line or above it."""
    line = start_of_line(source, row.start_mark.index)
    while line >= least:
        if not source[line : line + column].strip() and source[line + column : line + column + 1] == "-":
            return line + column
        line = start_of_line(source, line - 1) if line else -1
    return None


def _first_dash(text: str, column: int) -> int:
    at = 0
    while text[at : at + column].strip() or text[at + column : at + column + 1] != "-":
        at = end_of_line(text, at) + 1
    return at


def _is_comment_within(line: str, column: int) -> bool:
    """Tell whether a line is a comment that stands deeper than the dash of the row above it."""
    text = line.lstrip(" ")
    return text.startswith("#") and len(line) - len(text) > column


def _new(value: Any, column: int) -> str:
    lines = in_lines([value]).removesuffix("\n").split("\n")
    return "\n".join(f"{' ' * column}{line}" if line else "" for line in lines)

"""Edit lists in the text of a study file; remaining rows keep their text and comments. Pure."""

from collections.abc import Sequence
from typing import Any

import yaml

from studies.design.spans import end_of, end_of_line, start_of_line
from studies.design.yaml_writer import block_yaml


def replace_rows(source: str, key: yaml.Node, listed: yaml.Node, before: Any, after: Sequence[Any]) -> str | None:
    """Return the text with the rows `after` in place of the rows `before`, which the list has now.

    key: the name before the list. Remaining rows may be reordered. Returns None for a list in brackets, and if no row
    remains, because then no text can be kept.
    """
    if not isinstance(listed, yaml.SequenceNode) or listed.flow_style or not isinstance(before, list) or not after:
        return None
    column = listed.start_mark.column
    texts = _texts(source, key, listed, column)
    if texts is None:
        return None
    # Key of a value that also distinguishes its type: in Python True equals 1, and 1 equals 1.0.
    left: dict[str, list[int]] = {}
    for number in reversed(range(len(before))):
        left.setdefault(repr(before[number]), []).append(number)
    kept = [numbers.pop() if (numbers := left.get(repr(value))) else None for value in after]
    if kept == [None] * len(after):
        return None
    rows = [
        _new_row(value, column) if place is None else texts[place][1] for value, place in zip(after, kept, strict=True)
    ]
    start, (last, last_text) = texts[0][0], texts[-1]
    if 0 not in kept:
        # Comments above a list belong to the list, unless its first row has moved.
        dash = _dash(source, listed.value[0], column, start) or start
        rows.insert(0, source[start : start_of_line(source, dash)].removesuffix("\n"))
    # A row keeps its line end at the end of a file without one; otherwise a multi-line text would lose it.
    below = source[last + len(last_text) :] or ("" if kept[-1] in (None, len(before) - 1) else "\n")
    return source[:start] + "\n".join(row for row in rows if row) + below


def _texts(source: str, key: yaml.Node, listed: yaml.SequenceNode, column: int) -> list[tuple[int, str]] | None:
    """Return the start and the text of each row, without its last line end; None where rows share lines.

    Text between two rows belongs to the lower one.
    """
    texts = []
    least = end_of_line(source, key.end_mark.index) + 1
    for row in listed.value:
        dash = _dash(source, row, column, least)
        if dash is None:
            return None
        end = end_of_line(source, max(dash, end_of(source, row)))
        while _is_comment_within(line := source[end + 1 : end_of_line(source, end + 1)], column):
            end += 1 + len(line)
        texts.append((least, source[least:end]))
        least = end + 1
    return texts


def _dash(source: str, row: yaml.Node, column: int, least: int) -> int | None:
    """Return the position of the dash of a row, on its line or above it."""
    line = start_of_line(source, row.start_mark.index)
    while line >= least:
        if not source[line : line + column].strip() and source[line + column : line + column + 1] == "-":
            return line + column
        line = start_of_line(source, line - 1) if line else -1
    return None


def _is_comment_within(line: str, column: int) -> bool:
    """Return whether a line is a comment that is indented deeper than the dash of the row above it."""
    text = line.lstrip(" ")
    return text.startswith("#") and len(line) - len(text) > column


def _new_row(value: Any, column: int) -> str:
    lines = block_yaml([value]).removesuffix("\n").split("\n")
    return "\n".join(f"{' ' * column}{line}" if line else "" for line in lines)

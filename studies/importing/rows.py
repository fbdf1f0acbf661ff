"""Read CSV and JSON row by row; unreadable rows are yielded as problems, never raised."""

import csv
import json
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO, TypeVar, cast

import yaml

from studies.importing.base import RowProblem

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Longest row in bytes: far more than any benchmark needs, and small enough for memory.
LONGEST_LINE = 10_000_000
# Largest file that must be read whole, in bytes: far more than any benchmark needs.
LARGEST_OBJECT = 100_000_000

# The C loader is ten times as fast, but not always available.
_YamlLoader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

Row = tuple[int, dict[str, Any]]
Item = tuple[int, str, Any]
T = TypeVar("T")
R = TypeVar("R")


class _Unreadable(Exception):
    """The rest of the file cannot be read; the message says why."""


class _RewoundStream:
    """A stream whose first line was already read."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self._first = first
        self._rest = rest

    def readline(self, size: int) -> bytes:
        line, self._first = self._first, b""
        if not line or (len(line) < size and not line.endswith(b"\n")):
            line += self._rest.readline(size - len(line))
        return line


def read_rows(stream: BinaryIO, required: Sequence[str]) -> Iterator[Row | RowProblem]:
    """Yield (record number, fields) of JSON lines or of a CSV file with the `required` columns."""
    beginning = stream.readline(64)
    rewound = cast(BinaryIO, _RewoundStream(beginning, stream))
    is_json = beginning.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in {b"{", b"["}
    yield from read_objects(rewound) if is_json else read_table(rewound, required)


def read_table(stream: BinaryIO, required: Sequence[str], *, delimiter: str = ",") -> Iterator[Row | RowProblem]:
    """Yield (record number, {column: text}) of a CSV file whose header has at least the `required` columns."""
    reader = csv.reader(_lines(stream), strict=True, delimiter=delimiter)
    row = 0
    try:
        header = next(reader, None)
        problems = _problems_in_header(header, required)
        yield from problems
        if problems or header is None:
            return
        for cells in reader:
            if not cells:
                continue
            row += 1
            if len(cells) == len(header):
                yield row, dict(zip(header, cells, strict=True))
            else:
                yield RowProblem(row, "", f"The row has {len(cells)} fields where the header has {len(header)}.")
    except _Unreadable as error:
        yield RowProblem(0, "", f"{error}{records_before(row)}")
    except csv.Error as error:
        yield RowProblem(row + 1, "", f"The row cannot be read as CSV ({error}). Look for a stray or missing quote.")
    else:
        if not row:
            yield RowProblem(0, "", "It has a header but no records.")


def read_objects(stream: BinaryIO) -> Iterator[Row | RowProblem]:
    """Yield (record number, object) of a file with one JSON object per line."""
    row = 0
    try:
        for line in _lines(stream):
            if not line.strip():
                continue
            row += 1
            outcome = _parse_object(line)
            if isinstance(outcome, dict):
                yield row, outcome
            elif row == 1 and line.lstrip().startswith("["):
                yield RowProblem(0, "", "It is a JSON list. Write one JSON object on each line, without the list.")
                return
            elif row == 1 and not line.lstrip().startswith("{") and "," in line:
                yield RowProblem(0, "", "It looks like CSV, not JSON lines. Choose a CSV format, or save it as JSONL.")
                return
            else:
                yield RowProblem(row, "", outcome)
    except _Unreadable as error:
        yield RowProblem(0, "", f"{error}{records_before(row)}")
    else:
        if not row:
            yield RowProblem(0, "", "It is empty. Name a file with records.")


def read_json_items(stream: BinaryIO) -> Iterator[Item | RowProblem]:
    """Yield (record number, key, value) of a file with one JSON object of items by key. Reads the whole file."""
    items = _read_json(stream)
    if isinstance(items, RowProblem):
        yield items
    elif not isinstance(items, dict) or not items:
        yield RowProblem(0, "", "It is not a JSON object of items by key.")
    else:
        for row, (key, value) in enumerate(items.items(), start=1):
            yield row, key, value


def read_json_list(stream: BinaryIO) -> Iterator[Row | RowProblem]:
    """Yield (record number from 1, object) or a problem for each item of a JSON list. Reads the whole file."""
    items = _read_json(stream)
    if isinstance(items, RowProblem):
        yield items
    elif not isinstance(items, list) or not items:
        yield RowProblem(0, "", "It is not a JSON list of objects.")
    else:
        for row, value in enumerate(items, start=1):
            if isinstance(value, dict):
                yield row, value
            else:
                yield RowProblem(row, "", f"The item is {kind_of(value)}, not an object.")


def read_yaml_items(stream: BinaryIO) -> Iterator[Item | RowProblem]:
    """Yield (record number, key, value) of a file with one YAML mapping of items by key. Reads the whole file.

    Every scalar is read as text.
    """
    try:
        # The base loader makes only texts, lists and mappings.
        items = yaml.load(_read_whole(stream), Loader=_YamlLoader)  # noqa: S506
    except _Unreadable as error:
        yield RowProblem(0, "", str(error))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        yield RowProblem(0, "", f"It is not YAML{f' (line {mark.line + 1})' if mark else ''}.")
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        yield RowProblem(0, "", "It cannot be read as YAML.")
    else:
        if not isinstance(items, dict) or not items or not all(isinstance(key, str) for key in items):
            yield RowProblem(0, "", "It is neither a JSON object nor a YAML mapping of items by key.")
            return
        for row, (key, value) in enumerate(items.items(), start=1):
            yield row, key, value


def _read_json(stream: BinaryIO) -> Any:
    """Return the value of a JSON file, or its problem."""
    try:
        return _load(_read_whole(stream))
    except (_Unreadable, _BadValue) as error:
        return RowProblem(0, "", str(error))
    except json.JSONDecodeError as error:
        return RowProblem(0, "", f"It is not JSON ({error.msg} at line {error.lineno}, character {error.colno}).")
    except (ValueError, RecursionError):
        return RowProblem(0, "", "It cannot be read as JSON: a number is too long or the nesting too deep.")


def _read_whole(stream: BinaryIO) -> str:
    content = stream.read(LARGEST_OBJECT + 1)
    if len(content) > LARGEST_OBJECT:
        raise _Unreadable(f"It is larger than {LARGEST_OBJECT:,} bytes. Split it into several files.")
    return _decode(content, 0)


def read_each(
    items: Iterable[T | RowProblem], read: Callable[[T], Iterator[R | RowProblem]]
) -> Iterator[R | RowProblem]:
    """Yield what `read` makes of each item; problems stay."""
    for item in items:
        yield from [item] if isinstance(item, RowProblem) else read(item)


def others(fields: Mapping[str, Any], known: Container[str]) -> dict[str, Any]:
    """Return the fields that an importer does not know, as the entry `other` of a reference; {} without any."""
    other = {name: value for name, value in fields.items() if name not in known}
    return {"other": other} if other else {}


def without_blanks(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Drop empty cells: in a CSV they mean a missing value."""
    return {name: value for name, value in fields.items() if value != ""}


def without_nulls(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def text_of(row: int, fields: Mapping[str, Any], name: str, problems: list[RowProblem]) -> str:
    """Return the optional text field `name` ("" if absent or null); add a problem for any other type."""
    value = fields.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        problems.append(RowProblem(row, name, f"The field must be a text, not {kind_of(value)}."))
        return ""
    return value


# What files that are no text begin with.
NO_TEXT = {
    b"PK\x03\x04": "a zip archive or an Excel file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"PAR1": "a Parquet file",
    b"\x1f\x8b": "a compressed file",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"%PDF": "a PDF",
}


def _lines(stream: BinaryIO) -> Iterator[str]:
    position = 0
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise _Unreadable(f"The line at byte {position:,} is longer than {LONGEST_LINE:,} bytes.")
        text = _decode(line, position)
        position += len(line)
        yield text


def _decode(data: bytes, position: int) -> str:
    """Return the decoded text of `data`, which starts at byte `position` of the file."""
    start = len(BYTE_ORDER_MARK) if position == 0 and data.startswith(BYTE_ORDER_MARK) else 0
    if position == 0:
        for sign, what in NO_TEXT.items():
            if data.startswith(sign):
                raise _Unreadable(
                    f"It is {what}, not a text file. Choose the file with the rows, saved as CSV or JSON."
                )
    try:
        return data[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Unreadable(
            f"It is not UTF-8: the byte at position {position + start + error.start:,} (from 0) fits no character. "
            "Save it as UTF-8."
        ) from error


def _problems_in_header(header: list[str] | None, required: Sequence[str]) -> list[RowProblem]:
    if header is None:
        return [RowProblem(0, "", "It is empty. Choose a file with a header and at least one record.")]
    missing = [name for name in required if name not in header]
    twice = sorted({name for name in header if name and header.count(name) > 1})
    nameless = header.count("")
    problems = []
    if missing:
        columns = "columns" if len(missing) > 1 else "column"
        problems.append(RowProblem(0, "", f"It lacks the {columns} {', '.join(missing)}."))
    if twice:
        problems.append(RowProblem(0, "", f"Its header names {', '.join(twice)} more than once."))
    if nameless > 1:
        problems.append(
            RowProblem(0, "", f"Its header has {nameless} columns without a name. Give each a name, or delete it.")
        )
    return problems


def records_before(row: int) -> str:
    """Return the end of a sentence about a file that cannot be read after record `row`."""
    return f" Records before it: {row:,}." if row else ""


def object_on_line(line: bytes) -> dict[str, Any] | None:
    """Return the JSON object on a line, or None if the line is something else."""
    with suppress(ValueError, RecursionError):
        value = _load(line.decode("utf-8-sig"))
        return value if isinstance(value, dict) else None
    return None


def _parse_object(line: str) -> dict[str, Any] | str:
    """Return the JSON object on the line, or a sentence that says why there is none."""
    try:
        value = _load(line)
    except _BadValue as error:
        return str(error)
    except json.JSONDecodeError as error:
        return f"The line is not JSON ({error.msg} at character {error.pos + 1})."
    except (ValueError, RecursionError):
        return "The line cannot be read as JSON: a number is too long or the nesting too deep."
    if not isinstance(value, dict):
        return f"The line is {kind_of(value)}. Write one JSON object on each line."
    return value


class _BadValue(ValueError):
    pass


def _load(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant, parse_float=_finite)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _BadValue(f"The field {twice!r} appears more than once.")
    return fields


def _refuse_constant(name: str) -> float:
    raise _BadValue(f"{name} is not JSON. Write null or leave the field out.")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _BadValue(f"The number {text} is too large.")
    return number


def kind_of(value: Any) -> str:
    """Return the type of a JSON value, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else "a number"

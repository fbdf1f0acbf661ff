"""Parquet files as Hugging Face datasets write them: rows as plain JSON, and pictures in cells.

A picture in a cell is named by file, row (from 0) and column, as RFC 7111 names a cell of a table; one in a list, also
by its position: `train.parquet#cell=12,image`, `train.parquet#cell=12,images/3`.
"""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

from studies.importing.base import RowProblem
from studies.importing.rows import Row, records_before

# How the name of a file ends, and what the file begins with.
PARQUET = ".parquet"
MAGIC = b"PAR1"
# The same of the files that `save_to_disk` of the `datasets` library writes, and of other Arrow files.
ARROW = ".arrow"
ARROW_MAGIC = (b"\xff\xff\xff\xff", b"ARROW1")
ARROW_ROWS = 100
ROWS_AT_ONCE = 500
# Most bytes of a column in one row group, which is read at once.
LARGEST_GROUP = 1 << 30
_CELL = re.compile(
    r"(?P<file>.+\.parquet)#cell=(?P<row>\d{1,9}),(?P<column>.+?)(?:/(?P<place>\d{1,4}))?", re.DOTALL | re.IGNORECASE
)


class BadTable(Exception):
    """A Parquet file or a cell of it cannot be read; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A picture in a file: `row` from 0; `place` in the list of pictures of that cell, or None."""

    file: str
    row: int
    column: str
    place: int | None = None

    @property
    def filename(self) -> str:
        place = "" if self.place is None else f"/{self.place}"
        return f"{self.file}#cell={self.row},{self.column}{place}"


def parse_cell(filename: str) -> Cell | None:
    """Return the cell that a name encodes, None for an ordinary file name."""
    found = _CELL.fullmatch(filename)
    if found is None:
        return None
    place = found["place"]
    return Cell(found["file"], int(found["row"]), found["column"], None if place is None else int(place))


def read_parquet(stream: BinaryIO, file: str) -> Iterator[Row | RowProblem]:
    """Yield (record number, {column: plain JSON}) of a Parquet file called `file`.

    A picture becomes {"path": name of its cell}; its bytes are not read. Numbers of a Hugging Face class label become
    its names.
    """
    row = 0
    try:
        table = open_parquet(stream)
        pictures = {field.name for field in table.schema_arrow if _is_picture(field.type)}
        lists = _lists_of_pictures(table)
        read = [field.name for field in table.schema_arrow if field.name not in {*pictures, *lists}]
        labels = _class_labels(table)
        if not table.metadata.num_rows:
            yield RowProblem(0, "", "It has columns but no records.")
        _refuse_large_groups(table, {*read, *lists})
        for batch in table.iter_batches(batch_size=ROWS_AT_ONCE, columns=[*read, *lists.values()]):
            # A batch without columns has no rows.
            for values in batch.to_pylist() if batch.num_columns else [{}] * table.metadata.num_rows:
                fields = {name: _field(values, name, labels) for name in read}
                fields |= {name: {"path": Cell(file, row, name).filename} for name in pictures}
                for name in lists:
                    places = range(len(values.get(name) or ()))
                    fields[name] = [{"path": Cell(file, row, name, place).filename} for place in places]
                row += 1
                yield row, {name: fields[name] for name in table.schema_arrow.names}
    except BadTable as error:
        yield RowProblem(0, "", str(error))
    except _failures() as error:
        yield RowProblem(0, "", f"The Parquet file cannot be read ({_line(error)}).{records_before(row)}")


def write_as_parquet(source: Path, target: Path) -> None:
    """Write an Arrow file of `save_to_disk` as a Parquet file, in small row groups. Raises BadTable."""
    from pyarrow import ipc, parquet

    try:
        with (
            source.open("rb") as stream,
            ipc.open_stream(stream) as batches,
            parquet.ParquetWriter(target, batches.schema) as writer,
        ):
            for batch in batches:
                writer.write_batch(batch, row_group_size=ARROW_ROWS)
    except _failures() as error:
        raise BadTable("It cannot be read as an Arrow file. Save the dataset again.") from error


def open_parquet(source: Path | BinaryIO) -> Any:
    """Return pyarrow's ParquetFile. Raises BadTable."""
    # Here, because it takes long to load.
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(source)
    except _failures() as error:
        raise BadTable("It cannot be read as a Parquet file. Write it again.") from error


# Files whose pictures are kept at the same time.
TABLES_KEPT = 2


class PictureTable:
    """The pictures in the cells of a Parquet file; cells of a row group are read together and kept."""

    def __init__(self, path: Path, *, largest_group: int = LARGEST_GROUP) -> None:
        self._table = open_parquet(path)
        self._largest_group = largest_group
        counts = [self._table.metadata.row_group(group).num_rows for group in range(self._table.num_row_groups)]
        self._ends = list(accumulate(counts))
        self._starts = [end - count for end, count in zip(self._ends, counts, strict=True)]
        # As many as a row can ask for one after another.
        most = len(self._table.schema_arrow.names)
        self._group: Callable[[int, str], list[Any]] = lru_cache(maxsize=most)(self._read_group)
        # A ParquetFile is not for several threads.
        self._lock = Lock()

    def read(self, cell: Cell) -> bytes:
        """Return the bytes of a picture. Raises BadTable."""
        with self._lock:
            if cell.column not in self._table.schema_arrow.names or not self._ends or cell.row >= self._ends[-1]:
                raise BadTable(f"There is no image {cell.filename}.")
            group = bisect_right(self._ends, cell.row)
            value = self._group(group, cell.column)[cell.row - self._starts[group]]
        if cell.place is not None:
            value = value[cell.place] if isinstance(value, list) and cell.place < len(value) else None
        data = value.get("bytes") if isinstance(value, dict) else value
        if isinstance(data, bytes) and data:
            return data
        path = value.get("path") if isinstance(value, dict) else None
        if path:
            raise BadTable(
                f"{cell.filename} holds only the path {path!r} of an image. Save the dataset with its images "
                "inside, or write file names into a text column and send the images beside it."
            )
        raise BadTable(f"There is no image {cell.filename}: the cell is empty.")

    def _read_group(self, group: int, column: str) -> list[Any]:
        try:
            _refuse_large_groups(self._table, {column}, [group], largest=self._largest_group)
            rows: list[Any] = self._table.read_row_group(group, columns=[column]).column(column).to_pylist()
        except _failures() as error:
            raise BadTable(f"The column {column} cannot be read ({_line(error)}).") from error
        return rows


def _failures() -> tuple[type[Exception], ...]:
    import pyarrow

    return (pyarrow.ArrowException, OSError, ValueError, LookupError, ArithmeticError, NotImplementedError, MemoryError)


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")


def _is_picture(kind: Any) -> bool:
    """Return whether a column holds bytes, or {"bytes", "path"} as the `datasets` library stores an image."""
    from pyarrow import types

    if types.is_struct(kind):
        return {kind.field(place).name for place in range(kind.num_fields)} == {"bytes", "path"}
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind))


def _lists_of_pictures(table: Any) -> dict[str, str]:
    """Return column -> name of the part of it that tells how many pictures a cell has, without reading them."""
    from pyarrow import types

    found = {}
    for field in table.schema_arrow:
        is_list = types.is_list(field.type) or types.is_large_list(field.type)
        if is_list and types.is_struct(field.type.value_type) and _is_picture(field.type.value_type):
            paths = [table.schema.column(place).path for place in range(len(table.schema))]
            found[field.name] = next(
                path for path in paths if path.startswith(f"{field.name}.") and path.endswith(".path")
            )
    return found


def _class_labels(table: Any) -> dict[str, list[str]]:
    """Return column -> names of its numbers, from what the `datasets` library writes into the file."""
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        features = json.loads(table.schema_arrow.metadata[b"huggingface"])["info"]["features"]
        return {
            column: [str(name) for name in feature["names"]]
            for column, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
        }
    return {}


def _field(values: Mapping[str, Any], name: str, labels: Mapping[str, list[str]]) -> Any:
    value = values[name]
    if name in labels and isinstance(value, int) and 0 <= value < len(labels[name]):
        return labels[name][value]
    return _plain(value)


def _plain(value: Any) -> Any:
    """Return a value of a cell as JSON: dates as text, numbers that are none as None, bytes left out."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return None if isinstance(value, bytes) else str(value)


def _refuse_large_groups(
    table: Any, columns: set[str], groups: Sequence[int] | None = None, *, largest: int = LARGEST_GROUP
) -> None:
    """Raise BadTable if a column of a row group is too large to be read at once."""
    for group in range(table.num_row_groups) if groups is None else groups:
        about = table.metadata.row_group(group)
        parts = (about.column(place) for place in range(about.num_columns))
        size = sum(part.total_uncompressed_size for part in parts if part.path_in_schema.split(".")[0] in columns)
        if size > largest:
            raise BadTable(
                f"Row group {group} has {size:,} bytes to be read at once; at most {largest:,} are allowed. "
                "Write the file again with smaller row groups, such as row_group_size=100."
            )

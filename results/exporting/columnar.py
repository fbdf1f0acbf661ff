"""Parquet files written row by row: bounded memory, and the same bytes from the same rows.

A row group is held in memory until written, so it ends after a number of rows or bytes, whichever comes first. Nothing
in the file depends on when or where it was made; its footer names the version of the library.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from results.exporting.base import ReadImage, Write, Writer, one_for_each

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_GROUP = 100
BYTES_PER_GROUP = 32 * 1024 * 1024


class TableFile:
    """A Parquet file. `pictures`: columns of encoded images, which are stored uncompressed."""

    def __init__(self, path: Path, schema: "pa.Schema", *, pictures: Sequence[str] = ()) -> None:
        import pyarrow.parquet as pq

        self.schema = schema
        self.bytes_written = 0
        self.rows_written = 0
        self._rows: list[Mapping[str, Any]] = []
        self._bytes = 0
        leaves = [name for name in _leaves(schema) if name.split(".")[0] not in pictures]
        self._writer = pq.ParquetWriter(
            path,
            schema,
            version="2.6",
            data_page_version="1.0",
            compression={name: "zstd" if name in leaves else "none" for name in _leaves(schema)},
            use_dictionary=leaves,
            write_statistics=leaves,
        )

    def write(self, row: Mapping[str, Any], size: int = 0) -> None:
        """Add a row of about `size` bytes."""
        self._rows.append(row)
        self._bytes += size
        if len(self._rows) >= ROWS_PER_GROUP or self._bytes >= BYTES_PER_GROUP:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self.schema))
        self.rows_written += len(self._rows)
        self.bytes_written += self._bytes
        self._rows, self._bytes = [], 0

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def __enter__(self) -> "TableFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._writer.close()


class ParquetWriter(Writer):
    """Base of formats with one Parquet file, written row by row."""

    content_type = "application/vnd.apache.parquet"

    @abstractmethod
    def schema(self) -> "pa.Schema":
        """Return the schema of the file."""

    @abstractmethod
    def record(self, row: Any) -> Mapping[str, Any]:
        """Return one row of `results.exporting.rows` as the schema has it."""

    @contextmanager
    def open(self, path: Path, read_image: ReadImage) -> Iterator[Write]:
        with TableFile(path, self.schema()) as table:
            yield one_for_each(lambda row: table.write(self.record(row)))


def _leaves(schema: "pa.Schema") -> list[str]:
    """Return the dotted names of the stored columns."""
    import pyarrow as pa

    def under(name: str, type_: "pa.DataType") -> list[str]:
        if pa.types.is_list(type_):
            return under(f"{name}.list.element", type_.value_type)
        if pa.types.is_struct(type_):
            return [leaf for field in type_ for leaf in under(f"{name}.{field.name}", field.type)]
        return [name]

    return [leaf for field in schema for leaf in under(field.name, field.type)]

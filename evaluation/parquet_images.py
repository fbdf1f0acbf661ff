"""Datasets as the Hugging Face Hub has them: Parquet files whose rows hold the bytes of their images."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from evaluation.errors import BenchmarkError

# Names an image by file, row (from 0) and column, as RFC 7111 names a cell of a table.
_CELL = re.compile(r"(?P<file>.+\.parquet)#cell=(?P<row>\d{1,9}),(?P<column>\w+)", re.ASCII)


def shards_of(folder: Path, split: str) -> list[Path]:
    """Return the files of a split, in their order: `data/test-00000-of-00002.parquet` and so on."""
    return sorted((folder / "data").glob(f"{split}-*.parquet"))


def cell_name(file: str, row: int, column: str) -> str:
    """Return the name of an image. Example: `data/test-00000-of-00001.parquet#cell=12,image`."""
    return f"{file}#cell={row},{column}"


def texts_of(path: Path, columns: Sequence[str], images: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the texts of every row, without reading the images; `images` are columns that must be there.

    Raises BenchmarkError for a file that is no such table, and for a text that is missing.
    """
    table = _opened(path)
    names = table.schema_arrow.names
    lacking = [name for name in (*columns, *images) if name not in names]
    if lacking:
        raise BenchmarkError(f"{path.name} lacks {', '.join(lacking)}; it has {', '.join(names)}.")
    for number, row in enumerate(table.read(columns=list(columns)).to_pylist(), start=1):
        wrong = [name for name in columns if not isinstance(row[name], str)]
        if wrong:
            raise BenchmarkError(f"{path.name}: Record {number}: {wrong[0]} is no text.")
        yield row


class Cells:
    """Reads images out of tables below a folder; the rows that lie together in a file are read together and kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._opened = cache(_opened)
        self._groups = lru_cache(maxsize=4)(self._group)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of the image that a name of `cell_name` stands for, None for any other name.

        Raises BenchmarkError when there is no such image.
        """
        found = _CELL.fullmatch(name)
        if found is None:
            return None
        path = (self.folder / found["file"]).resolve()
        if not path.is_file() or not path.is_relative_to(self.folder.resolve()):
            raise BenchmarkError(f"The file {found['file']} is not in {self.folder}.")
        row, table = int(found["row"]), self._opened(path)
        if found["column"] in table.schema_arrow.names and row < table.metadata.num_rows:
            counts = [table.metadata.row_group(group).num_rows for group in range(table.num_row_groups)]
            ends = list(accumulate(counts))
            group = bisect_right(ends, row)
            image = self._groups(path, group, found["column"])[row - ends[group] + counts[group]]
            if isinstance(image, dict) and isinstance(image.get("bytes"), bytes):
                return bytes(image["bytes"])
        raise BenchmarkError(f"There is no image {name}.")

    def _group(self, path: Path, group: int, column: str) -> list[Any]:
        rows: list[Any] = self._opened(path).read_row_group(group, columns=[column]).column(column).to_pylist()
        return rows


def _opened(path: Path) -> Any:
    # Here, because nothing else of a command needs it, and it takes long to load.
    import pyarrow
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise BenchmarkError(f"{path.name} is not a Parquet file that can be read.") from error

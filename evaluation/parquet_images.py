"""Read datasets in the form of the Hugging Face Hub: Parquet files whose rows contain the bytes of their images."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from evaluation.errors import BenchmarkError
from studies.importing.parquet import TABLES_KEPT, BadTable, PictureTable, open_parquet, parse_cell


def shards_of(folder: Path, split: str) -> list[Path]:
    """Return the files of a split in order: `data/test-00000-of-00002.parquet` and so on."""
    return sorted((folder / "data").glob(f"{split}-*.parquet"))


def texts_of(path: Path, columns: Sequence[str], images: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the texts of every row, without reading the images; `images`: further columns that must exist.

    Raises BenchmarkError for a file that is not such a table, and for a missing text.
    """
    table = _open_table(path)
    names = table.schema_arrow.names
    lacking = [name for name in (*columns, *images) if name not in names]
    if lacking:
        raise BenchmarkError(f"{path.name} lacks {', '.join(lacking)}; it has {', '.join(names)}.")
    for number, row in enumerate(table.read(columns=list(columns)).to_pylist(), start=1):
        wrong = [name for name in columns if not isinstance(row[name], str)]
        if wrong:
            raise BenchmarkError(f"{path.name}: Record {number}: {wrong[0]} is not a text.")
        yield row


class Cells:
    """Reads images from cells of the Parquet files below a folder; keeps the last `TABLES_KEPT` files open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._table = lru_cache(maxsize=TABLES_KEPT)(PictureTable)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of the image in the Parquet cell that `name` names, None if `name` does not name a cell.

        Raises BenchmarkError if the cell has no image.
        """
        cell = parse_cell(name)
        if cell is None:
            return None
        path = (self.folder / cell.file).resolve()
        if not path.is_file() or not path.is_relative_to(self.folder.resolve()):
            raise BenchmarkError(f"The file {cell.file} is not in {self.folder}.")
        try:
            return self._table(path).read(cell)
        except BadTable as error:
            raise BenchmarkError(f"{cell.file}: {error}") from error


def _open_table(path: Path) -> Any:
    try:
        return open_parquet(path)
    except BadTable as error:
        raise BenchmarkError(f"{path.name} cannot be read as a Parquet file.") from error

"""Interface of export formats, and base classes of single-file formats."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from results.exporting.spreadsheets import cell

# The split of rows without one, and of files with several.
DEFAULT_SPLIT = "test"
# SHA-256 -> bytes of a stored picture. Raises OSError if the storage does not have it.
ReadImage = Callable[[str], bytes]
RowType = Literal[
    "instances", "responses", "decisions", "checks", "ratings", "predictions", "conditions", "descriptions", "events"
]
# Writes one row of `results.exporting.rows`; returns the number of rows of the data it became.
Write = Callable[[Any], int]


def one_for_each(write: Callable[[Any], None]) -> Write:
    """Return `write` as a `Write` that makes one row of the data per row."""

    def write_one(row: Any) -> int:
        write(row)
        return 1

    return write_one


def once_per_item(write: Write) -> Write:
    """Return `write` for the first row of each item: releases frozen by an older version hold a row per question."""
    written: set[str] = set()

    def write_new(row: Any) -> int:
        if row.name in written:
            return 0
        written.add(row.name)
        return write(row)

    return write_new


@dataclass(frozen=True)
class Column:
    """A column of a machine-readable description. `type`: Croissant's name, such as "sc:Text"."""

    name: str
    type: str
    description: str


class Writer(ABC):
    """An export format; by default of one file for all splits. `rows`: the type of rows it takes."""

    title: str
    rows: RowType
    filename: str
    """The end of its files' names, after the name of the study and a dash."""
    is_folder = False
    """It makes a folder called `filename`, not a file."""
    content_type: str
    """Of the file; of a folder, the type of its data files."""
    columns: Sequence[Column] = ()
    """What a description of the data says of it; empty when there is none of this format."""
    data_files = ""
    """The data files in its folder, as a pattern; "" when the file is the data."""
    needs = ""
    """What a row must have to become a row of the data, such as "a caption and its image"; "" if every row does."""
    features: Mapping[str, Any] = {}
    """How the `datasets` library reads its columns; empty where it finds out by itself."""

    @abstractmethod
    def open(self, path: Path, read_image: ReadImage) -> AbstractContextManager[Write]:
        """Start the new file or folder `path`; it is complete at the end of the context."""

    def can_hold(self, row: Any) -> bool:
        """Whether a row of `results.exporting.rows` becomes a row of the data."""
        return True

    def refusal(self) -> str:
        """Say why there is nothing to write if no row can be held."""
        return f"No accepted item has {self.needs}, so this format would be empty: {self.title}. Choose another format."

    def splits(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return split -> pattern of its data files, given the `names` of all data files.

        By default no library loads the files of a folder by itself.
        """
        return {} if self.is_folder else {DEFAULT_SPLIT: self.filename}

    def name_after(self, folder: Path, dataset: str) -> Sequence[Path]:
        """Write the files that name the dataset beside the data in `folder`; return them (usually none)."""
        return ()


class TextWriter(Writer):
    """Base of formats with one UTF-8 text file, written row by row."""

    def start(self, out: IO[str]) -> None:
        """Write the header before the first row."""
        return

    @abstractmethod
    def write(self, row: Any, out: IO[str]) -> None:
        """Write one row of `results.exporting.rows`."""

    @contextmanager
    def open(self, path: Path, read_image: ReadImage) -> Iterator[Write]:
        with path.open("w", encoding="utf-8", newline="") as out:
            self.start(out)
            yield one_for_each(lambda row: self.write(row, out))


class CsvWriter(TextWriter):
    """A CSV table under `columns`. Cells are escaped as in `results.exporting.spreadsheets`."""

    content_type = "text/csv; charset=utf-8"

    @abstractmethod
    def values(self, row: Any) -> Iterable[Any]:
        """Return the values of one row of `results.exporting.rows`, in the order of the columns."""

    def start(self, out: IO[str]) -> None:
        csv.writer(out).writerow([column.name for column in self.columns])

    def write(self, row: Any, out: IO[str]) -> None:
        csv.writer(out).writerow([cell(value) for value in self.values(row)])

"""What an export format is, and the shape that all formats of one text file share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, Protocol

# What has no split, and what holds several.
DEFAULT_SPLIT = "test"
# The bytes of a stored picture, by its SHA-256. Raises OSError when the storage does not have it.
ReadImage = Callable[[str], bytes]
Rows = Literal["instances", "responses", "decisions", "ratings", "predictions", "conditions", "descriptions", "events"]
# Takes one row of `results.exporting.rows`; returns how many rows of the data it became.
Write = Callable[[Any], int]


def one_for_each(write: Callable[[Any], None]) -> Write:
    """Return `write` as a `Write`, where each row becomes one row of the data."""

    def write_one(row: Any) -> int:
        write(row)
        return 1

    return write_one


@dataclass(frozen=True)
class Column:
    """A column that a machine-readable description names. `type` as Croissant calls it, "sc:Text" for instance."""

    name: str
    type: str
    description: str


class Writer(Protocol):
    """One format. `rows` says which rows it takes."""

    title: str
    rows: Rows
    filename: str
    """The end of its files' names, after the name of the study and a dash."""
    is_folder: bool
    """It makes a folder called `filename`, not a file."""
    content_type: str
    """Of the file; of a folder, the type of its data files."""
    columns: Sequence[Column]
    """What a description of the data says of it; empty when there is none of this format."""
    data_files: str
    """The data files in its folder, as a pattern; "" when the file is the data."""
    features: Mapping[str, Mapping[str, str]]
    """How the `datasets` library reads its columns; empty where it finds out by itself."""

    def open(self, path: Path, read_image: ReadImage) -> AbstractContextManager[Write]:
        """Begin the file or the folder `path`, which is not there yet; it is whole when the context ends."""

    def splits(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return split -> the pattern of its data files, which are called `names`."""

    def name_after(self, folder: Path, dataset: str) -> Sequence[Path]:
        """Write what carries the name of the dataset, beside the data in `folder`; return the files, mostly none."""


class OneFile:
    """What is the same for all formats of one file, which holds all splits."""

    filename: str
    is_folder = False
    data_files = ""
    columns: Sequence[Column] = ()
    features: Mapping[str, Mapping[str, str]] = {}

    def splits(self, names: Sequence[str]) -> Mapping[str, str]:
        return {DEFAULT_SPLIT: self.filename}

    def name_after(self, folder: Path, dataset: str) -> Sequence[Path]:
        return ()


class TextWriter(OneFile, ABC):
    """A format that is one UTF-8 text file, written row by row."""

    def start(self, out: IO[str]) -> None:
        """Write what comes before the first row."""
        return

    @abstractmethod
    def write(self, row: Any, out: IO[str]) -> None:
        """Write one row of `results.exporting.rows`."""

    @contextmanager
    def open(self, path: Path, read_image: ReadImage) -> Iterator[Write]:
        with path.open("w", encoding="utf-8", newline="") as out:
            self.start(out)
            yield one_for_each(lambda row: self.write(row, out))

"""Read scores from a file: a table of pairs, a matrix with names, or an array in a benchmark's order."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analytics.scores import Floats
from evaluation.errors import BenchmarkError
from evaluation.protocols.base import Block

# Yields the scores of blocks, images x texts.
Matrices = Callable[[Iterable[Block]], Iterator[Floats]]
COLUMNS = ("image", "text", "score")
FORMS = (
    "Write a CSV or Parquet file with the columns image, text and score, or with the column image and one for each "
    "text; a .npz with images, texts and scores, images x texts; or a .npy of the shape blocks x images x texts "
    "in the benchmark's order."
)


class ScoreFile:
    """A `evaluation.protocols.base.Scorer` that looks scores up.

    - `.csv`, `.parquet`: the columns image, text and score, one pair in each row, in any order; or a matrix, the column
      image first and every other one called by its text.
    - `.npz`: `images` and `texts`, names, and `scores`, images x texts.
    - `.npy`: blocks x images x texts, in the order in which the benchmark yields them, and its options in the order of
      the protocol; all blocks must be of one shape.

    Raises BenchmarkError for a file that is none of these, and for a score that is missing.
    """

    def __init__(self, path: Path) -> None:
        self._matrices = _reader(path)

    def __call__(self, blocks: Iterable[Block]) -> Iterator[Floats]:
        return self._matrices(blocks)


def _by_name(file: str, images: Sequence[str], texts: Sequence[str], scores: Floats) -> Matrices:
    """Look up a matrix whose rows are images and whose columns are texts."""
    rows = {name: row for row, name in enumerate(images)}
    columns = {text: column for column, text in enumerate(texts)}

    def place(places: dict[str, int], name: str, what: str) -> int:
        if name not in places:
            raise BenchmarkError(f"{file} has no score of the {what} {name!r}.")
        return places[name]

    def matrices(blocks: Iterable[Block]) -> Iterator[Floats]:
        for block in blocks:
            of_images = [place(rows, name, "image") for name in block.images]
            yield scores[np.ix_(of_images, [place(columns, text, "text") for text in block.texts])]

    return matrices


def _by_pair(file: str, scores: dict[tuple[str, str], float]) -> Matrices:
    def score(image: str, text: str) -> float:
        if (image, text) not in scores:
            raise BenchmarkError(f"{file} has no score of {image} and {text!r}.")
        return scores[image, text]

    def matrices(blocks: Iterable[Block]) -> Iterator[Floats]:
        for block in blocks:
            yield np.array([[score(image, text) for text in block.texts] for image in block.images])

    return matrices


def _in_order(file: str, scores: Floats) -> Matrices:
    def matrices(blocks: Iterable[Block]) -> Iterator[Floats]:
        there, images, texts = scores.shape
        count = 0
        for count, block in enumerate(blocks, start=1):
            if (images, texts) != (len(block.images), len(block.texts)):
                raise BenchmarkError(
                    f"{file} has blocks of {images} images x {texts} texts, and block {count:,} of the benchmark "
                    f"has {len(block.images)} x {len(block.texts)}."
                )
            if count > there:
                raise BenchmarkError(f"{file} has {there:,} blocks, and the benchmark has more.")
            yield scores[count - 1]
        if count < there:
            raise BenchmarkError(f"{file} has {there:,} blocks, and the benchmark has {count:,}.")

    return matrices


def _reader(path: Path) -> Matrices:
    readers = {".csv": _read_csv, ".parquet": _read_parquet, ".npz": _read_npz, ".npy": _read_npy}
    if path.suffix.lower() not in readers:
        raise BenchmarkError(f"{path.name} is not a known type of score file. {FORMS}")
    try:
        return readers[path.suffix.lower()](path)
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror or error}).") from error


def _read_csv(path: Path) -> Matrices:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            return _read_rows(path, list(reader.fieldnames or ()), reader)
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{path.name} is not UTF-8 text.") from error
    except csv.Error as error:
        raise BenchmarkError(f"{path.name} is not valid CSV: {error}.") from error


def _read_parquet(path: Path) -> Matrices:
    # Imported here, because it takes long to load.
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(path)
        names = table.schema_arrow.names
        wanted = names if _is_matrix(names) else [name for name in COLUMNS if name in names]
        rows = table.read(columns=wanted).to_pylist()
    except pyarrow.ArrowException as error:
        raise BenchmarkError(f"{path.name} cannot be read as a Parquet file.") from error
    return _read_rows(path, names, rows)


def _read_rows(path: Path, columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> Matrices:
    if _is_matrix(columns):
        return _matrix(path, columns[1:], rows)
    lacking = [name for name in COLUMNS if name not in columns]
    if lacking:
        there = ", ".join(columns) or "nothing"
        raise BenchmarkError(f"{path.name} lacks {', '.join(lacking)}; it has {there}. {FORMS}")
    problems: list[str] = []
    scores: dict[tuple[str, str], float] = {}
    for number, row in enumerate(rows, start=1):
        _add(scores, number, row, problems)
    if problems:
        raise BenchmarkError(*(f"{path.name}: {problem}" for problem in problems))
    return _by_pair(path.name, scores)


def _is_matrix(columns: Sequence[str]) -> bool:
    """Return whether columns form a matrix, rather than a table of pairs with a misspelt name."""
    return len(columns) > 1 and columns[0] == COLUMNS[0] and not set(COLUMNS[1:]) & set(columns)


def _matrix(path: Path, texts: Sequence[str], rows: Iterable[dict[str, Any]]) -> Matrices:
    """Read one row per image: its name in the column image and a score for each text."""
    images: list[str] = []
    scores: list[list[float]] = []
    problems: list[str] = []
    for number, row in enumerate(rows, start=1):
        try:
            scores.append([float(row[text]) for text in texts])
        except (TypeError, ValueError):
            problems.append(f"Record {number}: a score is missing, or not a number.")
        images.append(str(row[COLUMNS[0]]))
    if len(set(images)) < len(images) or len(set(texts)) < len(texts):
        problems.append("An image or a text occurs twice.")
    if problems:
        raise BenchmarkError(*(f"{path.name}: {problem}" for problem in problems))
    return _by_name(path.name, images, texts, np.array(scores, dtype=np.float64).reshape(len(images), len(texts)))


def _add(scores: dict[tuple[str, str], float], number: int, row: dict[str, Any], problems: list[str]) -> None:
    image, text = row["image"], row["text"]
    try:
        value = float(row["score"])
    except (TypeError, ValueError):
        problems.append(f"Record {number}: the score is {row['score']!r}, not a number.")
        return
    if not isinstance(image, str) or not isinstance(text, str):
        problems.append(f"Record {number}: image and text must be texts.")
    elif scores.setdefault((image, text), value) != value:
        problems.append(f"Record {number}: {image} and {text!r} have another score above.")


def _read_npz(path: Path) -> Matrices:
    arrays = _load(path)
    if not isinstance(arrays, np.lib.npyio.NpzFile):
        raise BenchmarkError(f"{path.name} is one array, not several with names. {FORMS}")
    with arrays:
        lacking = [name for name in ("images", "texts", "scores") if name not in arrays.files]
        if lacking:
            raise BenchmarkError(f"{path.name} lacks {', '.join(lacking)}. {FORMS}")
        images, texts = ([str(name) for name in arrays[part].ravel()] for part in ("images", "texts"))
        scores = _numbers(path, arrays["scores"])
    if scores.shape != (len(images), len(texts)):
        raise BenchmarkError(
            f"{path.name} has scores of shape {scores.shape} for {len(images)} images and {len(texts)} texts."
        )
    if len(set(images)) < len(images) or len(set(texts)) < len(texts):
        raise BenchmarkError(f"{path.name} has an image or a text twice.")
    return _by_name(path.name, images, texts, scores)


def _read_npy(path: Path) -> Matrices:
    scores = _numbers(path, _load(path))
    if scores.ndim != 3:
        raise BenchmarkError(f"{path.name} has the shape {scores.shape}, not blocks x images x texts.")
    return _in_order(path.name, scores)


def _load(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise BenchmarkError(f"{path.name} is not a NumPy file of numbers and names.") from error


def _numbers(path: Path, array: Any) -> Floats:
    if not np.issubdtype(array.dtype, np.number) or np.issubdtype(array.dtype, np.complexfloating):
        raise BenchmarkError(f"The scores of {path.name} are not numbers.")
    numbers: Floats = array
    return numbers

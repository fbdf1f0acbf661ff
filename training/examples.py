"""Examples that models are trained on: read from releases, and stored as JSON Lines. Pure.

A file of examples is read in any order without holding it in memory.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from studies.descriptions import SET, STATIC, TARGETS, VIDEO, role_of
from studies.importing import Note, Record, RowProblem, get_importer
from studies.importing.parquet import read_parquet
from training.errors import CannotTrain

# Files of a release: in tables, as lines, and the descriptions of image sets.
TABLES = ("data/*.parquet", "*.parquet")
LISTS = ("bivlc.jsonl", "bivlc.csv", "instances.jsonl", "instances.csv")
SETS = ("train_data.json", "valid_data.json", "test_data.json")
PAIR = ("caption", "negative_caption")
IMAGES = ("image", "negative_image")
# In TROHN-Text and TROHN-Img, the name of a file in the place of an image.
IMAGE_ID = "image_id"


@dataclass(frozen=True, slots=True)
class Example:
    """An instance to train on.

    `images`: names that the `OpenPicture` of the training knows (`predictions.feeder`), such as SHA-256: one image, two
    (the second belongs to the second caption), or the ten of an image set. `captions`: the caption of the first image,
    then negative ones; of an image set the one description. `target`: index of the described image in a set, from 0;
    None for other instances. `ordered`: the images are frames of a video, in the order of time.
    """

    instance: str
    images: tuple[str, ...]
    captions: tuple[str, ...]
    target: int | None = None
    type: str = ""
    subtype: str = ""
    ordered: bool = False


def read_release(folder: Path, *, split: str = "") -> Iterator[Example]:
    """Yield the examples of a release, whose images are named as `evaluation.pictures.Pictures` opens them.

    folder: Parquet files or a list with the columns of BiVLC, in the folder or as the Hugging Face Hub has them
    (`data/train-00000-of-00002.parquet`), or the JSON files of ImageCoDe. `split`: only that one, such as "train"; ""
    for all. Raises CannotTrain with the first problem.
    """
    tables = next((found for pattern in TABLES if (found := sorted(folder.glob(pattern)))), [])
    lists = [folder / name for name in LISTS if (folder / name).is_file()][:1]
    sets = [folder / name for name in SETS if (folder / name).is_file()]
    if split:
        tables = [path for path in tables if path.name.partition("-")[0] == split]
        sets = [path for path in sets if path.name.partition("_")[0] == split]
    if not (tables or lists or sets):
        of_split = f" of the split {split!r}" if split else ""
        raise CannotTrain(
            f"The folder {folder} has no instances{of_split}. Put {LISTS[0]}, {LISTS[1]}, data/train-*.parquet or "
            f"{SETS[0]} there."
        )
    for path in tables:
        yield from _pairs_of_table(path, str(path.relative_to(folder)))
    for path in [] if tables else lists:
        yield from (_pair(record) for record in _records(path, "bivlc", split))
    for path in sets:
        for record in _records(path, "imagecode", ""):
            yield from _descriptions(record, path)


def write_examples(examples: Iterable[Example], path: Path) -> int:
    """Write examples to a file, one per line; return their number."""
    with path.open("wb") as stream:
        return sum(stream.write(to_line(example)) > 0 for example in examples)


def read_examples(path: Path) -> Iterator[Example]:
    """Yield the examples of a file. Raises CannotTrain."""
    with path.open("rb") as stream:
        for line in stream:
            yield _from_line(line, path)


class ExampleFile(Sequence[Example]):
    """The examples of a file by their number, each read when it is needed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as stream:
            lengths = np.fromiter((len(line) for line in stream), np.int64)
        self._starts: NDArray[np.int64] = np.concatenate([[0], np.cumsum(lengths)])

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, number: int) -> Example: ...

    @overload
    def __getitem__(self, number: slice) -> list[Example]: ...

    def __getitem__(self, number: int | slice) -> Example | list[Example]:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        place = range(len(self))[number]
        with self.path.open("rb") as stream:
            stream.seek(self._starts[place])
            return _from_line(stream.readline(), self.path)

    def __iter__(self) -> Iterator[Example]:
        return read_examples(self.path)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the file."""
        with self.path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_of(examples: Sequence[Example]) -> str:
    """Return a SHA-256 of examples in their order, the same for a file of them."""
    if isinstance(examples, ExampleFile):
        return examples.digest
    digest = hashlib.sha256()
    for example in examples:
        digest.update(to_line(example))
    return digest.hexdigest()


def to_line(example: Example) -> bytes:
    """Return the line of a file that holds an example."""
    return json.dumps(asdict(example), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _from_line(line: bytes, path: Path) -> Example:
    try:
        fields: dict[str, Any] = json.loads(line)
        return Example(**fields | {name: tuple(fields[name]) for name in ("images", "captions")})
    except (ValueError, TypeError, KeyError) as error:
        raise CannotTrain(f"{path.name} has a line that is no example. Write the file again.") from error


def _records(path: Path, format: str, split: str) -> Iterator[Record]:
    with path.open("rb") as stream:
        for item in get_importer(format)(stream):
            if isinstance(item, RowProblem):
                raise CannotTrain(f"{path.name}: {item}")
            if not isinstance(item, Note) and (not split or item.split in ("", split)):
                yield item


def _pairs_of_table(path: Path, name: str) -> Iterator[Example]:
    """Yield the examples of a Parquet file called `name`. Its images are not read, and may be missing."""
    with path.open("rb") as stream:
        for item in read_parquet(stream, name):
            if isinstance(item, RowProblem):
                raise CannotTrain(f"{name}: {item}")
            number, row = item
            first = _image_name(row.get(IMAGES[0])) or _image_name(row.get(IMAGE_ID))
            lacking = [column for column in PAIR if not row.get(column)] + ([] if first else [IMAGES[0]])
            if lacking:
                raise CannotTrain(f"{name}: Record {number} has no {lacking[0]}.")
            images = tuple(filter(None, (first, _image_name(row.get(IMAGES[1])))))
            captions = tuple(str(row[column]) for column in PAIR)
            key = str(row.get("key") or f"{name}#{number - 1}")
            yield Example(key, images, captions, None, str(row.get("type") or ""), str(row.get("subtype") or ""))


def _image_name(value: Any) -> str:
    """Return the name of an image in a cell, or of a file that a cell names; "" for neither."""
    if isinstance(value, dict):
        return str(value.get("path") or "")
    return value if isinstance(value, str) else ""


def _pair(record: Record) -> Example:
    names = {image.role: image.filename for image in record.images}
    images, captions = (names[role] for role in IMAGES), (record.captions[role] for role in PAIR)
    return Example(record.key, tuple(images), tuple(captions), None, record.type, record.subtype)


def _descriptions(record: Record, path: Path) -> Iterator[Example]:
    targets = record.reference.get(TARGETS)
    if targets is None:
        raise CannotTrain(f"{path.name} does not say which images its descriptions are about.")
    images = tuple(image.filename for image in record.images if image.role == SET)
    for number, target in enumerate(targets, start=1):
        text = record.captions[role_of(number)].strip()
        yield Example(record.key, images, (text,), target, record.type or STATIC, record.subtype, record.type == VIDEO)

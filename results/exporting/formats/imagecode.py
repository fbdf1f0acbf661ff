"""`imagecode`: descriptions of image sets in the shapes in which ImageCoDe was released, a JSON file of each per split.

- `train_data.json`: an object of sets by their folder, of descriptions by the index of their image;
- `test_data_unlabeled.json`: the same with a list of descriptions for each set, which keeps the images to itself. A
  test split has it beside the labelled file, and where no image is known it is all there is;
- `valid_simple.json`: a list of pairs, each a description with its image and another one of the set;
- `directories.json`: the key of each set whose directory has another name here (`directory_of`);
- `train_further.json`: the shape above holds one description of an image. Where people wrote several that were
  accepted, the first stands there (an imported one before those) and the others here, in lists by index;
- `annotator_split_valid.json`: who wrote each description, where that is known;
- `manual_annotation_valid.yaml`: the phenomena that coders found in each, and for which they looked.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import yaml

from results.exporting.base import Column, ReadImage, Write
from results.exporting.rows import DescribedImage
from studies.descriptions import VIDEO

TEST = "test"
# How far apart the two images of a published pair stand: near, but not neighbours. In sets of three or fewer there are
# only neighbours. Which side was drawn at random, by a script that was not published.
APART, NEXT = 2, 1
# Spaces of an indent, as in the published files.
INDENT, INDENT_OF_PAIRS = 2, 4
# The paper's scripts take a set for static when this stands anywhere in the name of its directory, else for video.
STATIC_MARK = "open-images"
# Put before the key of a set that lacks the mark. A key that begins with it gets it too, so that names stay unique.
RENAMED = f"static-{STATIC_MARK}--"


class ImageCode:
    title = "Descriptions of image sets, ImageCoDe's JSON files"
    rows: Literal["descriptions"] = "descriptions"
    filename = "imagecode"
    is_folder = True
    data_files = "*.[jy]*"
    content_type = "application/json"
    columns: Sequence[Column] = ()
    features: Mapping[str, Mapping[str, str]] = {}

    def splits(self, names: Sequence[str]) -> Mapping[str, str]:
        # No library loads these files by itself.
        return {}

    def name_after(self, folder: Path, dataset: str) -> Sequence[Path]:
        return ()

    @contextmanager
    def open(self, path: Path, read_image: ReadImage) -> Iterator[Write]:
        path.mkdir(parents=True)
        with ExitStack() as files:
            folder = _Folder(path, files)
            of_one_set: list[DescribedImage] = []

            def write(row: DescribedImage) -> int:
                if of_one_set and of_one_set[0].key != row.key:
                    folder.add(of_one_set)
                    of_one_set.clear()
                of_one_set.append(row)
                return 1

            yield write
            if of_one_set:
                folder.add(of_one_set)
            folder.finish()


class _Folder:
    """The files of an export. One that is begun is closed by `files`."""

    def __init__(self, path: Path, files: ExitStack) -> None:
        self._path, self._files = path, files
        self._json: dict[str, _JsonFile] = {}
        self._yaml: dict[str, IO[str]] = {}

    def add(self, rows: Sequence[DescribedImage]) -> None:
        """Write the descriptions of one set, in their order."""
        key, split = directory_of(rows[0].key, rows[0].type), rows[0].split
        if key != rows[0].key:
            self._file("directories", "{}").add(f"{json.dumps(key)}: {json.dumps(rows[0].key)}")
        labelled = _by_target(rows)
        first = {target: each[0] for target, each in labelled.items()}
        if first:
            self._entry(_name(split, "data"), key, {str(target): row.text for target, row in first.items()})
        further = {str(target): [row.text for row in each[1:]] for target, each in labelled.items() if each[1:]}
        if further:
            self._entry(_name(split, "further"), key, further)
        for row in rows:
            if row.target is not None and row.set_size > 1:
                # Releases that an older version froze come out as they did, byte for byte.
                indent = INDENT if row.type is None else INDENT_OF_PAIRS
                self._line(_name(split, "simple"), _pair(key, row, row.target), indent)
        if split == TEST or any(row.target is None for row in rows):
            self._entry(_name(split, "data_unlabeled"), key, [row.text for row in rows])
        authors = {str(target): row.author for target, row in first.items() if row.author}
        if authors:
            self._entry(_name("annotator_split", split), key, authors)
        coded = {str(target): _coded(row) for target, row in first.items() if row.looked_for}
        if coded:
            self._add_coding(_name("manual_annotation", split), key, coded)

    def finish(self) -> None:
        """Leave a file without sets where there are no descriptions: data is never missing without a word."""
        if not self._json:
            self._file(_name("data"), "{}")

    def _entry(self, name: str, key: str, value: Any) -> None:
        self._file(name, "{}").add(f"{json.dumps(key)}: {_indented(value)}")

    def _line(self, name: str, value: Any, indent: int) -> None:
        self._file(name, "[]", indent).add(_indented(value, indent))

    def _file(self, name: str, brackets: str, indent: int = INDENT) -> "_JsonFile":
        if name not in self._json:
            self._json[name] = self._files.enter_context(_json_file(self._open(f"{name}.json"), brackets, indent))
        return self._json[name]

    def _add_coding(self, name: str, key: str, value: Mapping[str, Mapping[str, str]]) -> None:
        """Write what coders found in the descriptions of one set, as PyYAML wrote it where it was released."""
        if name not in self._yaml:
            self._yaml[name] = self._open(f"{name}.yaml")
        yaml.safe_dump({key: value}, self._yaml[name], default_style='"', allow_unicode=True, sort_keys=False)

    def _open(self, name: str) -> IO[str]:
        return self._files.enter_context((self._path / name).open("w", encoding="utf-8", newline="\n"))


class _JsonFile:
    """An object or a list that is written entry by entry, as `json.dumps` writes it whole with an `indent`."""

    def __init__(self, out: IO[str], indent: int) -> None:
        self._out = out
        self._line_break = "\n" + " " * indent
        self._comma = ""

    def add(self, entry: str) -> None:
        self._out.write(self._comma + self._line_break + entry)
        self._comma = ","


@contextmanager
def _json_file(out: IO[str], brackets: str, indent: int) -> Iterator[_JsonFile]:
    out.write(brackets[0])
    yield _JsonFile(out, indent)
    out.write("\n" + brackets[1])


def _by_target(rows: Sequence[DescribedImage]) -> dict[int, list[DescribedImage]]:
    """Group the descriptions whose image is known by it, in their order."""
    found: dict[int, list[DescribedImage]] = {}
    for row in rows:
        if row.target is not None:
            found.setdefault(row.target, []).append(row)
    return found


def _coded(row: DescribedImage) -> dict[str, str]:
    # What was looked for is ours: the released file tells it by the number of the description alone.
    return {"description": row.text, "annotation": ",".join(row.tags), "looked_for": ",".join(row.looked_for)}


def _indented(value: Any, indent: int = INDENT) -> str:
    # A line break inside of a text is written as two characters, so each one here is between two lines.
    return json.dumps(value, indent=indent).replace("\n", "\n" + " " * indent)


def directory_of(key: str, type: str | None) -> str:
    """Return the name under which a set of `type` leaves, which the paper's scripts read as video or as static.

    A name that they read correctly stays. Any other static name gets `RENAMED` before it, and each "open-images" of a
    video one more dash. Both can be reversed, so that two sets never share a name. `type` None: a release that an older
    version froze; its names stay.

    Example: static "cups" is "static-open-images--cups"; video "open-images-7" is "open--images-7".
    """
    if type is None:
        return key
    if type == VIDEO:
        return re.sub(r"open(-+)images", r"open-\1images", key)
    return key if STATIC_MARK in key and not key.startswith(RENAMED) else RENAMED + key


def _name(*parts: str) -> str:
    """Return the name of a file. A split may be any text, and a set may have none."""
    return "_".join(re.sub(r"\W", "_", part) for part in parts if part)


def _pair(directory: str, row: DescribedImage, target: int) -> dict[str, Any]:
    """Return a description with its image and another one of the set: the published one where a file says it, else the
    one before or after it as the SHA-256 falls."""
    sides = _beside(target, APART, row.set_size) or _beside(target, NEXT, row.set_size)
    other = row.paired
    if other is None:
        other = sides[hashlib.sha256(f"{row.key}/{target}".encode()).digest()[0] % len(sides)]
    return {"directory": directory, "pos_idx": target, "neg_idx": other, "caption": row.text}


def _beside(target: int, apart: int, size: int) -> list[int]:
    """Return the places in a set of `size` images that are so far apart from `target`; at most two, all from 0."""
    return [at for at in (target - apart, target + apart) if 0 <= at < size]

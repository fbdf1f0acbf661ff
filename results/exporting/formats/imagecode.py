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

from results.exporting.base import ReadImage, Write, Writer
from results.exporting.rows import DescribedImage
from studies.descriptions import VIDEO

TEST = "test"
# Distance of the two images of a published pair: near, but not neighbours. Sets of three or fewer have only neighbours.
# The side was drawn at random, by a script that was not published.
APART, NEXT = 2, 1
# Spaces of an indent, as in the published files.
INDENT, INDENT_OF_PAIRS = 2, 4
# The paper's scripts take a set for static if its directory name contains this, else for video.
STATIC_MARK = "open-images"
# Prefix for the key of a set that lacks the mark. A key that starts with it gets it too, so that names stay unique.
RENAMED = f"static-{STATIC_MARK}--"


class ImageCode(Writer):
    title = "Descriptions of image sets, ImageCoDe's JSON files"
    rows: Literal["descriptions"] = "descriptions"
    filename = "imagecode"
    is_folder = True
    data_files = "*.[jy]*"
    content_type = "application/json"

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
    """The files of an export. `files` closes the open one."""

    def __init__(self, path: Path, files: ExitStack) -> None:
        self._path, self._files = path, files
        self._json: dict[str, _JsonFile] = {}
        self._yaml: dict[str, IO[str]] = {}

    def add(self, rows: Sequence[DescribedImage]) -> None:
        """Write the descriptions of one set, in order."""
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
                # Releases frozen by an older version keep their bytes.
                indent = INDENT if row.type is None else INDENT_OF_PAIRS
                self._line(_name(split, "simple"), _pair(key, row, row.target), indent)
        if split == TEST or any(row.target is None for row in rows):
            self._entry(_name(split, "data_unlabeled"), key, [row.text for row in rows])
        authors = {str(target): row.author for target, row in first.items() if row.author}
        if authors:
            self._entry(_name("annotator_split", split), key, authors)
        coded = {str(target): _encode_description(row) for target, row in first.items() if row.looked_for}
        if coded:
            self._add_coding(_name("manual_annotation", split), key, coded)

    def finish(self) -> None:
        """Write an empty file if there are no descriptions, so that none is missing silently."""
        if not self._json:
            self._file(_name("data"), "{}")

    def _entry(self, name: str, key: str, value: Any) -> None:
        self._file(name, "{}").add(f"{json.dumps(key)}: {_indent_json(value)}")

    def _line(self, name: str, value: Any, indent: int) -> None:
        self._file(name, "[]", indent).add(_indent_json(value, indent))

    def _file(self, name: str, brackets: str, indent: int = INDENT) -> "_JsonFile":
        if name not in self._json:
            self._json[name] = self._files.enter_context(_json_file(self._open(f"{name}.json"), brackets, indent))
        return self._json[name]

    def _add_coding(self, name: str, key: str, value: Mapping[str, Mapping[str, str]]) -> None:
        """Write the phenomena coded in the descriptions of one set, as PyYAML wrote the published file."""
        if name not in self._yaml:
            self._yaml[name] = self._open(f"{name}.yaml")
        yaml.safe_dump({key: value}, self._yaml[name], default_style='"', allow_unicode=True, sort_keys=False)

    def _open(self, name: str) -> IO[str]:
        return self._files.enter_context((self._path / name).open("w", encoding="utf-8", newline="\n"))


class _JsonFile:
    """A JSON object or list written entry by entry, with the same bytes as `json.dumps` with an `indent`."""

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
    """Group the descriptions with a known image by it, in order."""
    found: dict[int, list[DescribedImage]] = {}
    for row in rows:
        if row.target is not None:
            found.setdefault(row.target, []).append(row)
    return found


def _encode_description(row: DescribedImage) -> dict[str, str]:
    # Our addition: which phenomena were looked for. The published file shows it only by the number of the description.
    return {"description": row.text, "annotation": ",".join(row.tags), "looked_for": ",".join(row.looked_for)}


def _indent_json(value: Any, indent: int = INDENT) -> str:
    # A line break in a text is escaped, so each one here separates two lines.
    return json.dumps(value, indent=indent).replace("\n", "\n" + " " * indent)


def directory_of(key: str, type: str | None) -> str:
    """Return the exported name of a set of `type`, which the paper's scripts read as video or as static.

    A name that they read correctly stays. Any other static name gets the prefix `RENAMED`, and each "open-images" of a
    video one more dash. Both can be reversed, so that two sets never share a name. `type` None: a release frozen by an
    older version; its names stay.

    Example: static "cups" is "static-open-images--cups"; video "open-images-7" is "open--images-7".
    """
    if type is None:
        return key
    if type == VIDEO:
        return re.sub(r"open(-+)images", r"open-\1images", key)
    return key if STATIC_MARK in key and not key.startswith(RENAMED) else RENAMED + key


def _name(*parts: str) -> str:
    """Return a file name. A split may be any text, and a set may have none."""
    return "_".join(re.sub(r"\W", "_", part) for part in parts if part)


def _pair(directory: str, row: DescribedImage, target: int) -> dict[str, Any]:
    """Return a description with its image and another one of the set.

    The published one if a file says it, else the one before or after it, by the SHA-256.
    """
    sides = _near_positions(target, APART, row.set_size) or _near_positions(target, NEXT, row.set_size)
    other = row.paired
    if other is None:
        other = sides[hashlib.sha256(f"{row.key}/{target}".encode()).digest()[0] % len(sides)]
    return {"directory": directory, "pos_idx": target, "neg_idx": other, "caption": row.text}


def _near_positions(target: int, apart: int, size: int) -> list[int]:
    """Return the positions in a set of `size` images at the fixed distance from `target`; at most two, all from 0."""
    return [at for at in (target - apart, target + apart) if 0 <= at < size]

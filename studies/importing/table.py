"""Any CSV, TSV, JSON, JSON lines or Parquet file: you say what each column is."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import PurePath, PurePosixPath
from typing import Any, BinaryIO

from studies.importing.base import Record, RowProblem, SourceImage, check_record, places_of
from studies.importing.image_facts import with_facts
from studies.importing.mapping import (
    CAPTION,
    FACTS,
    IMAGE,
    NAMES,
    OTHER,
    ColumnMapping,
    column_of,
    columns_named,
    columns_of_role,
    is_blank,
    is_picture,
    problems_with_mapping,
)
from studies.importing.parquet import ARROW_MAGIC, MAGIC, read_parquet
from studies.importing.rows import (
    BYTE_ORDER_MARK,
    LONGEST_LINE,
    Item,
    Row,
    kind_of,
    object_on_line,
    read_each,
    read_json_items,
    read_json_list,
    read_objects,
    read_table,
    without_blanks,
)

ARROW_ELSEWHERE = (
    "Arrow files are imported in the browser. Here, write the dataset as Parquet: dataset.to_parquet(FILE)."
)
NO_MAPPING = "The format table needs a mapping that says what each column is (--mapping)."
# The names that the `datasets` library gives to the files of a split.
_SPLIT_FILE = re.compile(r"(?P<split>train|validation|valid|val|dev|test)(-\d{5}-of-\d{5})?")
# Files in a folder named after their split: beside images, and those of `save_to_disk`.
_NAMED_BY_FOLDER = re.compile(r"metadata|data-\d{5}-of-\d{5}")
# The name of the file beside the images of a folder, without its ending.
METADATA = "metadata"
# Value of a source for "no image is right".
NONE = "none"


@dataclass(frozen=True)
class Sample:
    """The columns of a file and its first rows, or why it cannot be read."""

    columns: Sequence[str] = ()
    rows: Sequence[Mapping[str, Any]] = ()
    problem: str = ""


def read(stream: BinaryIO, mapping: ColumnMapping | None = None, folder: str = "") -> Iterator[Record | RowProblem]:
    """Return a record per row. Columns that the mapping does not name are kept in the reference as `other`.

    `folder`: the folder of the file in its dataset. Without a column for it, the key is the name of the file and the
    number of the row from 0: `pairs/12`. The split is that in the name of the file or its folder, as in
    `train-00000-of-00002.parquet` and `train/metadata.csv`. Empty cells are left out.
    """
    if not mapping:
        yield RowProblem(0, "", NO_MAPPING)
        return
    has_fixed_columns, rows = _open_rows(stream, folder)
    first: list[Row | RowProblem] = []
    for item in rows:
        first.append(item)
        if isinstance(item, tuple):
            columns = [*item[1], *(() if has_fixed_columns else mapping)]
            if problems := problems_with_mapping(mapping, columns):
                yield from (RowProblem(0, column or "", sentence) for column, sentence in problems.items())
                return
            break
    if not first:
        yield RowProblem(0, "", "The file has no rows.")
    stem = str(PurePath(folder, _name_of(stream)).with_suffix(""))
    yield from read_each(chain(first, rows), partial(read_row, mapping=mapping, stem=stem))


def sample(stream: BinaryIO, count: int, folder: str = "") -> Sample:
    """Return the columns and the first `count` rows of a file in `folder` of its dataset."""
    rows: list[Mapping[str, Any]] = []
    for item in _open_rows(stream, folder)[1]:
        if isinstance(item, tuple):
            rows.append(item[1])
        elif not rows:
            return Sample(problem=str(item) if item.row else item.reason)
        if len(rows) == count:
            break
    return Sample(columns=list(dict.fromkeys(column for row in rows for column in row)), rows=rows)


def _name_of(stream: BinaryIO) -> str:
    return PurePath(str(getattr(stream, "name", ""))).name or "table"


def _open_rows(stream: BinaryIO, folder: str) -> tuple[bool, Iterator[Row | RowProblem]]:
    """Return whether all rows have the same columns, and the rows.

    In a file called `metadata`, the names of images begin at its folder, as the `datasets` library has it.
    """
    has_fixed_columns, rows = _rows(stream, str(PurePosixPath(folder, _name_of(stream))))
    if folder and PurePath(_name_of(stream)).stem == METADATA:
        rows = read_each(rows, partial(_with_folder, folder=folder))
    return has_fixed_columns, rows


def _with_folder(item: Row, folder: str) -> Iterator[Row]:
    row, fields = item
    texts = {name: value for name, value in fields.items() if isinstance(value, str)}
    pictures = {name: f"{folder}/{value}" for name, value in texts.items() if is_picture(value)}
    yield row, fields | pictures


def _rows(stream: BinaryIO, name: str) -> tuple[bool, Iterator[Row | RowProblem]]:
    """Return whether all rows have the same columns, and the rows, by what the file begins with."""
    line = stream.readline(LONGEST_LINE)
    stream.seek(0)
    beginning = line.removeprefix(BYTE_ORDER_MARK).lstrip()
    if line.startswith(MAGIC):
        return True, read_parquet(stream, name)
    if line.startswith(ARROW_MAGIC):
        return True, iter([RowProblem(0, "", ARROW_ELSEWHERE)])
    if beginning.startswith(b"["):
        return False, read_json_list(stream)
    if beginning.startswith(b"{"):
        fields = object_on_line(line)
        is_nested = fields is None or all(isinstance(value, dict) for value in fields.values())
        return False, _items(stream) if is_nested and not name.endswith(".jsonl") else read_objects(stream)
    counts = {sign: line.count(sign.encode()) for sign in ("\t", ",", ";")}
    return True, read_table(stream, (), delimiter=max(counts, key=lambda sign: counts[sign]) if line else ",")


def _items(stream: BinaryIO) -> Iterator[Row | RowProblem]:
    """Yield the items of one JSON object by key, with their key as the first column."""
    return read_each(read_json_items(stream), _item)


def _item(item: Item) -> Iterator[Row | RowProblem]:
    row, key, fields = item
    if isinstance(fields, dict):
        yield row, {"key" if "key" not in fields else "item": key} | fields
    else:
        yield RowProblem(row, "", f"The item is {kind_of(fields)}, not an object.")


@dataclass
class _Cells:
    """The cells of a row, and the problems found in them."""

    row: int
    fields: Mapping[str, Any]
    problems: list[RowProblem] = field(default_factory=list)

    def refuse(self, column: str, reason: str) -> None:
        self.problems.append(RowProblem(self.row, column, reason))

    def text(self, column: str | None) -> str:
        """Return a text, a number as text, or "" for an empty cell."""
        return self._text(column, self.fields.get(column)) if column is not None else ""

    def texts(self, column: str) -> list[str]:
        """Return the texts of a cell, which may hold a list of them."""
        value = self.fields.get(column)
        parts = value if isinstance(value, list) else [value]
        return [text for text in (self._text(column, part) for part in parts) if text]

    def filenames(self, column: str) -> list[str]:
        """Return the file names of a cell: a text, {"path": text}, or a list of them."""
        value = self.fields.get(column)
        names = []
        for part in value if isinstance(value, list) else [value]:
            name = part.get("path") if isinstance(part, dict) else part
            if isinstance(name, str) and name:
                names.append(name)
            elif not is_blank(part):
                self.refuse(column, f"The cell holds {kind_of(part)} where the name of an image file is needed.")
        return names

    def _text(self, column: str, value: Any) -> str:
        if is_blank(value):
            return ""
        if isinstance(value, list | dict):
            self.refuse(column, f"The cell holds {kind_of(value)}. It must be a text or a number.")
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)


def read_row(item: Row, mapping: ColumnMapping, stem: str) -> Iterator[Record | RowProblem]:
    """Return the record of a row, or its problems. `stem`: the name of its file, without the ending."""
    row, fields = item
    cells = _Cells(row, fields)
    columns = [*fields, *(column for column in mapping if column not in fields)]
    captions: dict[str, str] = {}
    images: list[SourceImage] = []
    # Column -> the option that a right answer means by it.
    options: dict[str, str] = {}
    caption_columns = columns_of_role(mapping, CAPTION, columns)
    for column, role in caption_columns:
        for number, text in enumerate(cells.texts(column), start=1):
            captions[role if number == 1 else f"{role}_{number}"] = text
        options[column] = role
    image_columns = columns_of_role(mapping, IMAGE, columns)
    roles = [role for _, role in image_columns]
    for column, role in image_columns:
        position = sum(image.role == role for image in images)
        images += [SourceImage(role=role, filename=name) for name in cells.filenames(column)]
        options[column] = role if roles.count(role) == 1 else f"{role}-{position}"
    if image_columns and not images and not cells.problems:
        cells.refuse(image_columns[0][0], "The row names no image.")
    facts = {name: fields.get(column_of(mapping, name) or "") for name in FACTS if name in mapping.values()}
    images = with_facts(row, without_blanks(facts), images, cells.problems)
    names = {name: cells.text(column_of(mapping, name)) for name in NAMES}
    if "split" not in mapping.values():
        names["split"] = _split_of(stem)
    key = cells.text(column_of(mapping, "key")) if "key" in mapping.values() else f"{stem}/{row - 1}"
    reference = _reference(cells, mapping, captions, images, options)
    record = Record(row=row, key=key, captions=captions, images=images, reference=reference, **names)
    if cells.problems:
        yield from cells.problems
        return
    for checked in check_record(record, needs_caption=bool(caption_columns)):
        # A record has roles where its row has columns.
        if isinstance(checked, RowProblem):
            checked = replace(checked, field=columns_named(mapping, checked.field))
        yield checked


def _split_of(stem: str) -> str:
    *folders, name = PurePath(stem).parts
    found = _SPLIT_FILE.fullmatch(folders[-1] if folders and _NAMED_BY_FOLDER.fullmatch(name) else name)
    return found["split"] if found else ""


def _reference(
    cells: _Cells,
    mapping: ColumnMapping,
    captions: Mapping[str, str],
    images: Sequence[SourceImage],
    options: Mapping[str, str],
) -> dict[str, Any]:
    reference: dict[str, Any] = {}
    column = column_of(mapping, "right")
    value = None if column is None else cells.fields.get(column)
    if column is not None and not is_blank(value):
        reference["right"] = _right(cells, column, value, captions, images, options)
    other = {
        name: part for name, part in cells.fields.items() if mapping.get(name, OTHER) == OTHER and not is_blank(part)
    }
    return reference | ({"other": other} if other else {})


def _right(
    cells: _Cells,
    column: str,
    value: Any,
    captions: Mapping[str, str],
    images: Sequence[SourceImage],
    options: Mapping[str, str],
) -> Any:
    """Return the right option: what the cell names, by option, role or column, or by position from 0.

    A list or an object is returned unchanged, because right answers of kinds may be any JSON.
    """
    if isinstance(value, list | dict):
        return value
    places = [f"{role}-{position}" for role, position in places_of(images)]
    known = [*captions, *dict.fromkeys(image.role for image in images), *places, NONE]
    text = cells.text(column).removesuffix(".0")
    if text in options:
        return options[text]
    if text in known:
        return text
    several = {role for role, position in places_of(images) if position == 1}
    if text.isdecimal() and len(several) == 1 and (place := f"{several.pop()}-{int(text)}") in places:
        return place
    cells.refuse(column, f"{text!r} is not one of the row's options: {', '.join(known)}.")
    return ""

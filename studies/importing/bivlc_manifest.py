"""The manifest that BiVLC's annotators worked from: a CSV with two captions and four generated images per row."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from studies.importing.base import Record, RowProblem, SourceImage, check_record
from studies.importing.rows import Row, read_each, read_table

TYPES = ("add", "replace", "swap")
SUBTYPES = ("obj", "att", "rel")
CANDIDATES = ("hn_img_0", "hn_img_1", "hn_img_2", "hn_img_3")
COLUMNS = ("filename", "caption", "negative_caption", "type", "subtype", "index", *CANDIDATES)


def read(stream: BinaryIO) -> Iterator[Record | RowProblem]:
    """Return a record per row. The key is the column `index`; `filename`, a COCO photo, is not unique.

    The photo has the role `image` if its file exists (the manifest comes without), and is always in the reference as
    `coco`. The four generated images have the role `candidate`.
    """
    return read_each(read_table(stream, COLUMNS), _read_row)


def _read_row(item: Row) -> Iterator[Record | RowProblem]:
    yield from _problems(*item) or check_record(_record(*item))


def _problems(row: int, cells: dict[str, Any]) -> list[RowProblem]:
    problems = []
    for name in COLUMNS:
        if not cells[name].strip():
            what = "caption" if name.endswith("caption") else "field"
            problems.append(RowProblem(row, name, f"The {what} is empty."))
    for name, known in (("type", TYPES), ("subtype", SUBTYPES)):
        if cells[name].strip() and cells[name] not in known:
            problems.append(RowProblem(row, name, f"{cells[name]!r} is unknown; it must be one of {', '.join(known)}."))
    index = cells["index"]
    if index.strip() and not (index.isascii() and index.isdigit()):
        problems.append(RowProblem(row, "index", f"{index!r} is not a whole number."))
    return problems


def _record(row: int, cells: dict[str, Any]) -> Record:
    photo = SourceImage(role="image", filename=cells["filename"], optional=True)
    candidates = [SourceImage(role="candidate", filename=cells[name]) for name in CANDIDATES]
    return Record(
        row=row,
        key=cells["index"],
        captions={"caption": cells["caption"], "negative_caption": cells["negative_caption"]},
        images=[photo, *candidates],
        type=cells["type"],
        subtype=cells["subtype"],
        reference={"coco": cells["filename"]},
    )

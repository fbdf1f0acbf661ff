"""Finished instances of two images and two captions, as JSON lines or as CSV with the same columns."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from studies.importing.base import Record, RowProblem, SourceImage, checked
from studies.importing.image_facts import FACTS, with_facts
from studies.importing.rows import Row, read_rows, text_of

IMAGES = ("image", "negative_image")
CAPTIONS = ("caption", "negative_caption")
REQUIRED = ("pair_id", *IMAGES, *CAPTIONS)
NAMES = ("type", "subtype", "split")


def read(stream: BinaryIO) -> Iterator[Record | RowProblem]:
    """Yield a record per pair: the key is `pair_id`, roles are the column names.

    Unknown columns are kept in the reference as `other`.
    """
    for item in read_rows(stream, REQUIRED):
        yield from [item] if isinstance(item, RowProblem) else _read_row(item)


def _read_row(item: Row) -> Iterator[Record | RowProblem]:
    row, fields = item
    problems = [RowProblem(row, name, "The field is missing.") for name in REQUIRED if fields.get(name) is None]
    texts = {name: text_of(row, fields, name, problems) for name in (*REQUIRED, *NAMES)}
    given = [SourceImage(role=name, filename=texts[name]) for name in IMAGES]
    images = with_facts(row, _without_blanks(fields), given, problems)
    if problems:
        yield from problems
        return
    known = {*REQUIRED, *NAMES, *FACTS}
    other = {name: value for name, value in fields.items() if name not in known}
    yield from checked(
        Record(
            row=row,
            key=texts["pair_id"],
            captions={name: texts[name] for name in CAPTIONS},
            images=images,
            type=texts["type"],
            subtype=texts["subtype"],
            split=texts["split"],
            reference={"other": other} if other else {},
        )
    )


def _without_blanks(fields: dict[str, Any]) -> dict[str, Any]:
    """Drop empty cells: in a CSV they mean a missing value."""
    return {name: value for name, value in fields.items() if value != ""}

"""Finished instances of two images and two captions, as JSON lines or as CSV with the same columns."""

from collections.abc import Iterator
from typing import BinaryIO

from studies.importing.base import Record, RowProblem, SourceImage, check_record
from studies.importing.image_facts import FACTS, with_facts
from studies.importing.rows import Row, others, read_each, read_rows, text_of, without_blanks

IMAGES = ("image", "negative_image")
CAPTIONS = ("caption", "negative_caption")
REQUIRED = ("pair_id", *IMAGES, *CAPTIONS)
NAMES = ("type", "subtype", "split")
KNOWN = {*REQUIRED, *NAMES, *FACTS}


def read(stream: BinaryIO) -> Iterator[Record | RowProblem]:
    """Return a record per pair: the key is `pair_id`, roles are the column names.

    Unknown columns are kept in the reference as `other`.
    """
    return read_each(read_rows(stream, REQUIRED), _read_row)


def _read_row(item: Row) -> Iterator[Record | RowProblem]:
    row, fields = item
    problems = [RowProblem(row, name, "The field is missing.") for name in REQUIRED if fields.get(name) is None]
    texts = {name: text_of(row, fields, name, problems) for name in (*REQUIRED, *NAMES)}
    given = [SourceImage(role=name, filename=texts[name]) for name in IMAGES]
    images = with_facts(row, without_blanks(fields), given, problems)

    yield from problems or check_record(
        Record(
            row=row,
            key=texts["pair_id"],
            captions={name: texts[name] for name in CAPTIONS},
            images=images,
            **{name: texts[name] for name in NAMES},
            reference=others(fields, KNOWN),
        )
    )

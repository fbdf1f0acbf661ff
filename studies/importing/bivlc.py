"""BiVLC as it was released: two images, two captions, type and subtype in each row, as CSV or JSON lines."""

from collections.abc import Iterator
from typing import Any, BinaryIO

from studies.importing.base import Record, RowProblem, SourceImage, check_record
from studies.importing.image_facts import FACTS, with_facts
from studies.importing.rows import Row, others, read_each, read_rows, text_of, without_blanks

IMAGES = ("image", "negative_image")
CAPTIONS = ("caption", "negative_caption")
CATEGORY = ("type", "subtype")
REQUIRED = (*IMAGES, *CAPTIONS, *CATEGORY)
KNOWN = {*REQUIRED, *FACTS, "key", "split"}
# Python's repr of an image in memory: result files of models have it in place of the image.
PRINTED = ("<PIL.", "<class 'PIL.")


def read(stream: BinaryIO) -> Iterator[Record | RowProblem]:
    """Return a record per row. The key is the column `key` or, as in BiVLC, the row's number from 0.

    Roles are the column names. Unknown columns are kept in the reference as `other`.
    """
    return read_each(read_rows(stream, REQUIRED), _read_row)


def _read_row(item: Row) -> Iterator[Record | RowProblem]:
    row, fields = item
    problems = [RowProblem(row, name, "The field is missing.") for name in REQUIRED if fields.get(name) is None]
    names = {name: _filename(row, fields, name, problems) for name in IMAGES}
    texts = {name: text_of(row, fields, name, problems) for name in ("key", "split", *CAPTIONS, *CATEGORY)}
    given = [SourceImage(role=role, filename=name) for role, name in names.items()]
    images = with_facts(row, without_blanks(fields), given, problems)

    yield from problems or check_record(
        Record(
            row=row,
            key=texts["key"] or str(row - 1),
            captions={name: texts[name] for name in CAPTIONS},
            images=images,
            type=texts["type"],
            subtype=texts["subtype"],
            split=texts["split"],
            reference=others(fields, KNOWN),
        )
    )


def _filename(row: int, fields: dict[str, Any], name: str, problems: list[RowProblem]) -> str:
    value = fields.get(name)
    if isinstance(value, dict) and isinstance(value.get("path"), str):
        # The `datasets` library writes an image as a JSON object.
        return str(value["path"])
    filename = text_of(row, fields, name, problems)
    if filename.startswith(PRINTED):
        problems.append(
            RowProblem(
                row,
                name,
                "The field is a printed Python object, not a file name. "
                "If this is the result file of a model, bring it in with import_predictions.",
            )
        )
    return filename

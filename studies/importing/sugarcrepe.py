"""SugarCrepe's seven JSON files: an object of items by number, whose type and subtype are the file's name."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import PurePath
from typing import BinaryIO

from studies.importing.base import Record, RowProblem, SourceImage, check_record
from studies.importing.rows import Item, kind_of, others, read_each, read_json_items, text_of

REQUIRED = ("filename", "caption", "negative_caption")
_NAME = re.compile(r"(add|replace|swap)_(obj|att|rel)")


def read(stream: BinaryIO) -> Iterator[Record | RowProblem]:
    """Yield a record per item. The key is file name and item number, "add_obj/12"; numbers may have gaps.

    The COCO photo has the role `image`, and is in the reference as `coco`.
    """
    name = PurePath(str(getattr(stream, "name", ""))).name
    category = _NAME.fullmatch(name.removesuffix(".json"))
    if category is None:
        yield RowProblem(
            0,
            "",
            f"Its name {name!r} does not say its type and subtype. Name it as SugarCrepe does: "
            "add_obj.json, swap_att.json and so on.",
        )
        return
    yield from read_each(read_json_items(stream), partial(_read_item, category=category))


def _read_item(item: Item, category: re.Match[str]) -> Iterator[Record | RowProblem]:
    row, number, fields = item
    problems: list[RowProblem] = []
    if not (number.isascii() and number.isdigit()):
        problems.append(RowProblem(row, "key", f"{number!r} is not a whole number."))
    if not isinstance(fields, dict):
        yield RowProblem(row, "", f"The item is {kind_of(fields)}, not an object with {', '.join(REQUIRED)}.")
        return
    problems += [RowProblem(row, name, "The field is missing.") for name in REQUIRED if fields.get(name) is None]
    texts = {name: text_of(row, fields, name, problems) for name in REQUIRED}
    yield from problems or check_record(
        Record(
            row=row,
            key=f"{category[0]}/{number}",
            captions={"caption": texts["caption"], "negative_caption": texts["negative_caption"]},
            images=[SourceImage(role="image", filename=texts["filename"])],
            type=category[1],
            subtype=category[2],
            reference={"coco": texts["filename"]} | others(fields, REQUIRED),
        )
    )

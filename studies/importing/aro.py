"""ARO: an image and captions of which one is right, and the others are right but for who does what to whom.

Three types of file are JSON lists: relations and attributes in Visual Genome scenes, and captions of photos with
shuffled words. A tab-separated table is NegCLIP's validation set. The type is recognised by content.
"""

import ast
from collections.abc import Iterator
from functools import partial
from pathlib import PurePath
from typing import Any, BinaryIO

from studies.importing.base import Record, RowProblem, SourceImage, check_record
from studies.importing.captions import retrieval
from studies.importing.parts import Part
from studies.importing.rows import (
    BYTE_ORDER_MARK,
    Row,
    others,
    read_each,
    read_json_list,
    read_table,
    text_of,
    without_nulls,
)

RELATION, ATTRIBUTION, ORDER, NEGCLIP = "relation", "attribution", "order", "negclip"
BOX = ("bbox_x", "bbox_y", "bbox_w", "bbox_h")
# What was shuffled in each altered caption, in the order in which a case lists them after the original caption.
SHUFFLED = tuple(f"{what}_shuffled" for what in ("nouns_and_adjectives", "other_words", "within_trigrams", "trigrams"))
COLUMNS = ("title", "filepath", "neg_caption")

Problems = list[RowProblem]


def read(stream: BinaryIO) -> Iterator[Record | RowProblem]:
    """Yield a record per case. The key is the file type and the number of the case from 0, "relation/12".

    A region of a scene is a separate image (`studies.importing.parts`). Unknown fields are kept in the reference as
    `other`.
    """
    start = stream.tell()
    beginning = stream.read(64)
    stream.seek(start)
    name = PurePath(str(getattr(stream, "name", ""))).name
    if beginning.removeprefix(BYTE_ORDER_MARK).lstrip()[:1] in {b"[", b"{"}:
        yield from read_each(read_json_list(stream), partial(_read_case, name=name))
    else:
        yield from read_each(read_table(stream, COLUMNS, delimiter="\t"), _read_triple)


def _read_case(item: Row, name: str) -> Iterator[Record | RowProblem]:
    row, fields = item
    if "relation_name" in fields:
        yield from _read_region(item, RELATION, "relation_name")
    elif "attributes" in fields:
        yield from _read_region(item, ATTRIBUTION, "attributes")
    elif "caption_options" in fields:
        yield from _read_order(item, name)
    else:
        yield RowProblem(row, "", "The case has neither relation_name, nor attributes, nor caption_options.")


def _read_region(item: Row, type: str, about: str) -> Iterator[Record | RowProblem]:
    row, fields = item
    problems: Problems = []
    names = ("image_path", "true_caption", "false_caption")
    problems += [RowProblem(row, name, "The field is missing.") for name in (*names, *BOX) if fields.get(name) is None]
    image, caption, negative = (text_of(row, fields, name, problems) for name in names)
    subtype = fields[about]
    if isinstance(subtype, list) and len(subtype) == 2 and all(isinstance(part, str) for part in subtype):
        subtype = "_".join(subtype)
    if not isinstance(subtype, str):
        problems.append(RowProblem(row, about, "The field must be a text, or two texts in a list."))
    box: list[Any] = [fields.get(name) for name in BOX]
    if not problems and not all(_is_whole(number) for number in box):
        problems.append(RowProblem(row, BOX[0], "The region must be four whole numbers of pixels, 0 to 999,999."))
    yield from problems or check_record(
        Record(
            row=row,
            key=f"{type}/{row - 1}",
            captions={"caption": caption, "negative_caption": negative},
            images=[SourceImage(role="image", filename=Part(image, *map(int, box)).filename)],
            type=type,
            subtype=str(subtype),
            reference=others(without_nulls(fields), {*names, *BOX, about}),
        )
    )


def _is_whole(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number < 10**6 and number % 1 == 0


def _read_order(item: Row, name: str) -> Iterator[Record | RowProblem]:
    """Read a caption and its shuffled versions; null marks a missing version."""
    row, fields = item
    problems: Problems = []
    image = text_of(row, fields, "image", problems)
    options = fields["caption_options"]
    is_list = isinstance(options, list) and all(option is None or isinstance(option, str) for option in options)
    if not is_list or len(options) != 1 + len(SHUFFLED):
        made = f"the caption and its {len(SHUFFLED)} variants, each a text or null"
        problems.append(RowProblem(row, "caption_options", f"The field must be a list of {made}."))
    elif options[0] is None:
        problems.append(RowProblem(row, "caption_options", "The caption itself is missing."))
    if problems:
        yield from problems
        return
    captions = {role: text for role, text in zip(("caption", *SHUFFLED), options, strict=True) if text is not None}
    altered = [retrieval(text) for role, text in captions.items() if role != "caption"]
    source = name.partition("_order")[0] or ORDER
    yield from check_record(
        Record(
            row=row,
            key=f"{ORDER}/{source}/{row - 1}",
            captions=captions,
            images=[SourceImage(role="image", filename=image)],
            type=ORDER,
            # If the shuffled caption equals the original, neither is right or wrong.
            subtype="unchanged" if retrieval(captions["caption"]) in altered else source[:50],
            reference=others(without_nulls(fields), {"image", "caption_options"}),
        )
    )


def _read_triple(item: Row) -> Iterator[Record | RowProblem]:
    row, cells = item
    try:
        negatives = ast.literal_eval(cells["neg_caption"])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        negatives = None
    if not isinstance(negatives, list) or not negatives or not all(isinstance(text, str) for text in negatives):
        yield RowProblem(row, "neg_caption", "The field must be a list of texts, as Python writes it.")
        return
    roles = ["negative_caption", *(f"negative_caption_{number}" for number in range(2, len(negatives) + 1))]
    yield from check_record(
        Record(
            row=row,
            key=f"{NEGCLIP}/{cells.get('') or row - 1}",
            captions={"caption": cells["title"], **dict(zip(roles, negatives, strict=True))},
            images=[SourceImage(role="image", filename=cells["filepath"])],
            type=NEGCLIP,
            subtype=f"1 of {len(negatives) + 1}",
        )
    )

"""The platform's own general form: one JSON object per instance on each line.

docs/import-formats.md lists the fields.
"""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from studies.importing.base import Record, RowProblem, SourceImage, check_record, places_of
from studies.importing.image_facts import FACTS, with_facts
from studies.importing.rows import Row, others, read_each, read_objects, text_of, without_nulls

KEYS = ("key", "id", "set_id", "pair_id")
CAPTIONS = ("caption", "negative_caption")
NAMES = ("type", "subtype", "split")
KNOWN = {*KEYS, *CAPTIONS, *NAMES, *FACTS, "captions", "images", "reference"}
# Value of a source for "no image is right".
NONE = "none"
# Default role of a plain list of images, as `best_of_n` reads it.
LISTED_ROLE = "candidate"


def read(stream: BinaryIO) -> Iterator[Record | RowProblem]:
    """Return a record per line. Unknown fields are kept in the reference as `other`.

    The source's reference is kept as `given`. If it names the right image (`chosen_index` from 0, or `right`, an option
    like `candidate-2`), the record's reference has that option as `right`.
    """
    return read_each(read_objects(stream), _read_row)


def _read_row(item: Row) -> Iterator[Record | RowProblem]:
    row, fields = item
    problems: list[RowProblem] = []
    key = _key(row, fields, problems)
    captions = _captions(row, fields, problems)
    images = with_facts(row, fields, _images(row, fields, problems), problems)
    names = {name: text_of(row, fields, name, problems) for name in NAMES}
    reference = _reference(row, fields, images, problems)
    yield from problems or check_record(
        Record(row=row, key=key, captions=captions, images=images, reference=reference, **names)
    )


def _key(row: int, fields: Mapping[str, Any], problems: list[RowProblem]) -> str:
    name = next((name for name in KEYS if fields.get(name) is not None), None)
    if name is None:
        problems.append(RowProblem(row, "key", f"The row has no key. Name it in one of {', '.join(KEYS)}."))
        return ""
    if isinstance(fields[name], int) and not isinstance(fields[name], bool):
        return str(fields[name])
    return text_of(row, fields, name, problems)


def _captions(row: int, fields: Mapping[str, Any], problems: list[RowProblem]) -> dict[str, str]:
    captions = fields.get("captions")
    if captions is None:
        return {name: text_of(row, fields, name, problems) for name in CAPTIONS if fields.get(name) is not None}
    both = [name for name in CAPTIONS if name in fields]
    if both:
        problems.append(RowProblem(row, both[0], f"The row has captions and {both[0]}. Write one of the two."))
    elif not isinstance(captions, dict) or not all(isinstance(text, str) for text in captions.values()):
        problems.append(RowProblem(row, "captions", 'The field must be an object of texts, like {"caption": "..."}.'))
    else:
        return captions
    return {"caption": "-"}


def _images(row: int, fields: Mapping[str, Any], problems: list[RowProblem]) -> list[SourceImage]:
    images = fields.get("images")
    if images is None:
        return []
    by_role = images if isinstance(images, dict) else {LISTED_ROLE: images}
    found = []
    for role, names in by_role.items():
        if isinstance(names, str) and isinstance(images, dict):
            names = [names]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            problems.append(
                RowProblem(
                    row, "images", 'The field must be a list of file names, or an object like {"image": "a.jpg"}.'
                )
            )
            return []
        found += [SourceImage(role=role, filename=name) for name in names]
    return found


def _reference(
    row: int, fields: Mapping[str, Any], images: list[SourceImage], problems: list[RowProblem]
) -> dict[str, Any]:
    reference: dict[str, Any] = {}
    given = fields.get("reference")
    if isinstance(given, dict):
        right = _right(row, given, images, problems)
        reference = {"right": right} if right else {}
    if given is not None:
        reference["given"] = given
    return reference | others(without_nulls(fields), KNOWN)


def _right(row: int, given: Mapping[str, Any], images: list[SourceImage], problems: list[RowProblem]) -> Any:
    """Return the right option in the source's reference, or "".

    A list or an object is returned unchanged, because right answers of kinds may be any JSON.
    """
    options = [f"{role}-{position}" for role, position in places_of(images)]
    index = given.get("chosen_index")
    right = f"{LISTED_ROLE}-{index}" if index is not None else given.get("right")
    if right is None:
        return ""
    if index is None and isinstance(right, list | dict):
        return right
    if isinstance(index, bool) or right not in [*options, NONE]:
        name = "chosen_index" if index is not None else "right"
        problems.append(
            RowProblem(row, f"reference.{name}", f"{given[name]!r} is not one of the row's {len(images)} images.")
        )
        return ""
    return str(right)

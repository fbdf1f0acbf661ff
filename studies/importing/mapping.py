"""Mapping of a table's columns to what they become in an instance: checks, and a guess from names and values."""

import re
from collections.abc import Container, Mapping, Sequence
from itertools import chain, count
from typing import Any

from studies.importing.base import problem_with_role
from studies.kinds import is_foil_name
from studies.names import LONGEST_KEY

# What a column can become. Captions and images also have a role: `caption:negative_caption`.
CAPTION, IMAGE, OTHER, IGNORED = "caption", "image", "other", "ignored"
FACTS = ("source", "licence", "generator")
NAMES = ("type", "subtype", "split")
ONCE = ("key", *NAMES, "right", *FACTS)
TARGETS = {
    "key": "Key",
    CAPTION: "Caption",
    IMAGE: "Image",
    "type": "Type",
    "subtype": "Subtype",
    "split": "Split",
    "right": "Right answer",
    "source": "Source of the images",
    "licence": "Licence of the images",
    "generator": "Generator of the images",
    OTHER: "Note for researchers",
    IGNORED: "Leave out",
}
PICTURE_NAME = re.compile(r".+\.(jpe?g|png|webp|gif|bmp|tiff?)", re.IGNORECASE | re.DOTALL)

ColumnMapping = Mapping[str, str]
"""Column -> target. Example: {"id": "key", "text": "caption:caption", "img_0": "image:candidate"}."""


def is_picture(value: Any) -> bool:
    """Return whether a value names a picture, by its ending or as {"path": name}, or is a list of such values."""
    if isinstance(value, list):
        return bool(value) and all(map(is_picture, value))
    if isinstance(value, dict):
        return isinstance(value.get("path"), str) and value.keys() <= {"bytes", "path"}
    return isinstance(value, str) and PICTURE_NAME.fullmatch(value) is not None


def _is_caption(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(text, str) for text in value))


def filenames_in(value: Any) -> list[str]:
    """Return the file names of a value that names pictures."""
    if isinstance(value, list):
        return [name for part in value for name in filenames_in(part)]
    return [str(value["path"] if isinstance(value, dict) else value)]


def role_called_like(column: str) -> str:
    """Return a role made of a column's name, or "" if that has no letters for one."""
    name = _slug(column)[:30].strip("_")
    return "" if problem_with_role(name) else name


def is_blank(value: Any) -> bool:
    """Return whether a cell is empty."""
    return value is None or value == ""


def target_and_role(target: str) -> tuple[str, str]:
    """Return the target and role of an entry. Example: "image:candidate" -> ("image", "candidate")."""
    name, _, role = target.partition(":")
    return name, role


def columns_of_role(mapping: ColumnMapping, target: str, columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return (column, role) of the captions or images, in the order of `columns`."""
    named = ((column, *target_and_role(mapping.get(column, OTHER))) for column in columns)
    return [(column, role) for column, name, role in named if name == target]


def column_of(mapping: ColumnMapping, target: str) -> str | None:
    """Return the column of a target that only one column may have."""
    return next((column for column, name in mapping.items() if name == target), None)


def problems_with_mapping(mapping: ColumnMapping, columns: Sequence[str]) -> dict[str | None, str]:
    """Return column -> sentence for every wrong entry; the key None is for the mapping as a whole."""
    problems: dict[str | None, str] = {}
    first: dict[str, str] = {}
    for column in [*columns, *(name for name in mapping if name not in columns)]:
        entry = mapping.get(column, OTHER)
        target, role = target_and_role(entry)
        if column not in columns:
            if target not in {OTHER, IGNORED}:
                problems[column] = f"The file has no column {column!r}. It has {', '.join(map(repr, columns))}."
        elif target not in TARGETS or (role and target not in {CAPTION, IMAGE}):
            problems[column] = (
                f"{entry!r} is unknown. Use one of {', '.join(TARGETS)}; add a role as in caption:caption."
            )
        elif target in {CAPTION, IMAGE} and (problem := problem_with_role(role)):
            problems[column] = problem if role else f"The {target} has no role. Name one, as in {target}:{target}."
        elif (target in ONCE or target == CAPTION) and first.setdefault(entry, column) != column:
            what = f"the caption {role}" if target == CAPTION else f"the {TARGETS[target].lower()}"
            problems[column] = f"The column {first[entry]!r} is {what} too. Choose something else for one of them."
    roles = {name: {role for _, role in columns_of_role(mapping, name, columns)} for name in (CAPTION, IMAGE)}
    if not problems and not roles[CAPTION] and not roles[IMAGE]:
        problems[None] = "No column is a caption or an image. Assign at least one."
    return problems


_CAPTION_NAMES = re.compile(r"caption|text|sentence|description|prompt|title|question|statement")
_KEY_NAMES = re.compile(r"(.*_)?(key|id|uid|uuid|idx|index)|")
_PICTURE_NAMES = {"file", "filename", "file_name", "filepath", "file_path", "path", "img", "image_path", "photo"}
_TEXT_NAMES = {"text", "title", "sentence", "prompt", "description", "captions"}
_SYNONYMS = {
    "category": "type",
    "sub_type": "subtype",
    "subcategory": "subtype",
    "license": "licence",
    "licenses": "licence",
    "right_answer": "right",
    "chosen_index": "right",
}
_NUMBERED = re.compile(r"(?P<stem>.*?)_?\d{1,3}")


def guess_mapping(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return a mapping guessed from the names of the columns and their values in the first `rows`."""
    values = {column: [row[column] for row in rows if not is_blank(row.get(column))] for column in columns}
    guessed = _guess_images(columns, values)
    for column in columns:
        target = _SYNONYMS.get(_slug(column), _slug(column))
        if column in guessed or target in guessed.values() or not all(map(_is_short, values[column])):
            continue
        if target in {*NAMES, *FACTS, "right"}:
            guessed[column] = target
        elif "key" not in guessed.values() and _KEY_NAMES.fullmatch(target) and _names_rows(values[column], len(rows)):
            guessed[column] = "key"
    guessed |= _guess_captions([column for column in columns if column not in guessed], values)
    return {column: guessed.get(column, OTHER) for column in columns}


def _guess_images(columns: Sequence[str], values: Mapping[str, list[Any]]) -> dict[str, str]:
    pictures = [column for column in columns if values[column] and all(map(is_picture, values[column]))]
    stems = [_stem(column) for column in pictures]
    several = {
        column
        for column, stem in zip(pictures, stems, strict=True)
        if (stem and stems.count(stem) > 1) or all(isinstance(value, list) for value in values[column])
    }
    single = _roles([column for column in pictures if column not in several], "image", _PICTURE_NAMES)
    roles = dict.fromkeys(several, "candidate") | single
    return {column: f"{IMAGE}:{role}" for column, role in roles.items()}


def _guess_captions(columns: Sequence[str], values: Mapping[str, list[Any]]) -> dict[str, str]:
    texts = [column for column in columns if values[column] and all(map(_is_caption, values[column]))]
    prose = [column for column in texts if all(" " in str(text).strip() for text in values[column])]
    named = [column for column in texts if _CAPTION_NAMES.search(_slug(column))] or prose[:1]
    # Other columns may be called so too: only where the values are prose.
    named += [column for column in prose if column not in named and is_foil_name(_slug(column))]
    roles = _roles(named, "caption", _TEXT_NAMES)
    foils = [column for column in roles if is_foil_name(_slug(column))]
    if len(foils) == 1 and "caption" in roles.values():
        # The role that questions and exports know it by.
        roles[foils[0]] = "negative_caption"
    return {column: f"{CAPTION}:{role}" for column, role in roles.items()}


def _roles(columns: Sequence[str], default: str, usual: Container[str]) -> dict[str, str]:
    """Return column -> role called like it; the first with a `usual` name gets `default`, unless one is called so."""
    roles: dict[str, str] = {}
    for column in sorted(columns, key=lambda column: _slug(column) in usual):
        is_default = _slug(column) in usual and default not in roles.values()
        roles[column] = _unused(default if is_default else role_called_like(column) or default, roles.values())
    return roles


def _is_short(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and len(str(value)) <= LONGEST_KEY


def _names_rows(values: list[Any], rows: int) -> bool:
    """Return whether every row has a value of its own."""
    return bool(rows) and len(set(map(str, values))) == rows


def _slug(column: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", column.strip().lower()).strip("_")


def _stem(column: str) -> str:
    found = _NUMBERED.fullmatch(_slug(column))
    return found["stem"] if found else ""


def _unused(name: str, taken: Container[str]) -> str:
    """Return `name`, or it with the first number from 2 that makes it differ from those taken."""
    numbered = (f"{name[:25]}_{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)

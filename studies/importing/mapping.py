"""Mapping of a table's columns to what they become in an instance: checks, and a guess from names and values."""

import re
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count
from typing import Any

from studies.descriptions import SET, SET_SIZE
from studies.importing.base import problem_with_role
from studies.kinds import is_foil_name
from studies.names import LONGEST_KEY

# What a column can become. Captions and images also have a role: `caption:negative_caption`.
CAPTION, IMAGE, OTHER, IGNORED = "caption", "image", "other", "ignored"
# Role of images to choose from.
CANDIDATE = "candidate"
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


def guess_role(column: str) -> str:
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
    """Return (column, role) of the captions or images, in the order of `columns`.

    Columns of one role whose names differ only in their number are in the order of their numbers: a program that sorts
    names puts `image_10` before `image_2`.
    """
    named = ((column, *target_and_role(mapping.get(column, OTHER))) for column in columns)
    found = [(column, role) for column, name, role in named if name == target]
    first: dict[tuple[str, str], int] = {}
    for place, (column, role) in enumerate(found):
        first.setdefault((role, _stem_and_number(column)[0]), place)

    def place_and_number(entry: tuple[str, str]) -> tuple[int, int]:
        stem, number = _stem_and_number(entry[0])
        return first[entry[1], stem], number

    return sorted(found, key=place_and_number)


def columns_named(mapping: ColumnMapping, name: str) -> str:
    """Return the columns that became `name`, a target or a role, for a problem with it; `name` itself without any.

    Example: "photo" for "image" in {"photo": "image:image"}.
    """
    found = [column for column, entry in mapping.items() if name in {entry, target_and_role(entry)[1]}]
    return " or ".join(found) or name


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
            problems[column] = f"The column {first[entry]!r} is also {what}. Choose something else for one of the two."
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
_NUMBERED = re.compile(r"(?P<stem>.*?)_?(?P<number>\d{1,3})")
# Text in place of the stem of a column without a number, which no stem can equal.
_UNNUMBERED = "#"
# How the images of a group can be used.
AS_SET, AS_CANDIDATES, SEPARATELY = "set", "candidates", "separately"


@dataclass(frozen=True)
class ImageGroup:
    """Columns that together hold several images of a row: `image_1`, `image_2`, ..., or one column of lists."""

    columns: Sequence[str]
    size: int
    """Most images in one of the first rows."""

    def used_as(self, way: str, taken: Collection[str] = ()) -> dict[str, str]:
        """Return the mapping of its columns for AS_SET, AS_CANDIDATES or SEPARATELY. `taken`: roles of other images."""
        if way != SEPARATELY:
            role = _unused_name(SET if way == AS_SET else CANDIDATE, taken)
            return dict.fromkeys(self.columns, f"{IMAGE}:{role}")
        roles: list[str] = []
        for column in self.columns:
            roles.append(_unused_name(guess_role(column) or f"{CANDIDATE}_{len(roles) + 1}", [*roles, *taken]))
        return {column: f"{IMAGE}:{role}" for column, role in zip(self.columns, roles, strict=True)}


def image_groups(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[ImageGroup]:
    """Return the groups of columns that hold several images of a row each, judged by the first `rows`.

    A numbered column that is empty in these rows belongs to the pictures with the same stem.
    """
    values = _values(columns, rows)
    pictures = _picture_columns(columns, values)
    by_stem: dict[str, list[str]] = {}
    for column in columns:
        stem = _stem_and_number(column)[0]
        if not stem.startswith(_UNNUMBERED) and (column in pictures or not values[column]):
            by_stem.setdefault(stem, []).append(column)
    groups: list[ImageGroup] = []
    for column in columns:
        numbered = by_stem.get(_stem_and_number(column)[0], [])
        if column in pictures and len(pictures.intersection(numbered)) > 1:
            if not any(column in group.columns for group in groups):
                in_order = sorted(numbered, key=lambda name: _stem_and_number(name)[1])
                groups.append(ImageGroup(in_order, len(in_order)))
        elif column in pictures and all(isinstance(value, list) for value in values[column]):
            groups.append(ImageGroup([column], max(map(len, values[column]))))
    return groups


def guess_mapping(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return a mapping guessed from the names of the columns and their values in the first `rows`."""
    values = _values(columns, rows)
    pictures = _picture_columns(columns, values)
    groups = image_groups(columns, rows)
    guessed = dict.fromkeys([*pictures, *(column for group in groups for column in group.columns)], IMAGE)
    for column in columns:
        target = _SYNONYMS.get(_slug(column), _slug(column))
        if column in guessed or target in guessed.values() or not all(map(_is_short, values[column])):
            continue
        if target in {*NAMES, *FACTS, "right"}:
            guessed[column] = target
        elif "key" not in guessed.values() and _KEY_NAMES.fullmatch(target) and _names_rows(values[column], len(rows)):
            guessed[column] = "key"
    captions = _guess_captions([column for column in columns if column not in guessed], values)
    guessed |= captions | _guess_images([column for column in columns if column in pictures], groups, list(captions))
    return {column: guessed.get(column, OTHER) for column in columns}


def _values(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return column -> its values, without empty cells."""
    return {column: [row[column] for row in rows if not is_blank(row.get(column))] for column in columns}


def _picture_columns(columns: Sequence[str], values: Mapping[str, list[Any]]) -> set[str]:
    return {column for column in columns if values[column] and all(map(is_picture, values[column]))}


def _guess_images(pictures: Sequence[str], groups: Sequence[ImageGroup], captions: Sequence[str]) -> dict[str, str]:
    grouped = {column for group in groups for column in group.columns}
    alone = [column for column in pictures if column not in grouped]
    single = _pair_roles(_roles(alone, "image", _PICTURE_NAMES), "image")
    guessed = {column: f"{IMAGE}:{role}" for column, role in single.items()}
    ways = [_way(group, captions) for group in groups]
    for group, way in zip(groups, ways, strict=True):
        taken = {target_and_role(entry)[1] for entry in guessed.values()}
        stem = guess_role(_stem_and_number(group.columns[0])[0].removeprefix(_UNNUMBERED))
        if way != SEPARATELY and ways.count(way) > 1 and stem:
            # Of several such groups, each is called like its columns.
            guessed |= dict.fromkeys(group.columns, f"{IMAGE}:{_unused_name(stem, taken)}")
        else:
            guessed |= group.used_as(way, taken)
    return guessed


def _way(group: ImageGroup, captions: Sequence[str]) -> str:
    """Return how the images of a group are used.

    Each is separate where the captions have the same numbers. An image set has ten images, or as many as there are
    where no caption could ask to choose one. Others are candidates.
    """
    numbers = {_stem_and_number(column)[1] for column in group.columns}
    if len(group.columns) > 1 and len(captions) > 1 and {_stem_and_number(name)[1] for name in captions} == numbers:
        return SEPARATELY
    return AS_SET if group.size == SET_SIZE or (not captions and 1 < group.size < SET_SIZE) else AS_CANDIDATES


def _guess_captions(columns: Sequence[str], values: Mapping[str, list[Any]]) -> dict[str, str]:
    texts = [column for column in columns if values[column] and all(map(_is_caption, values[column]))]
    prose = [column for column in texts if all(" " in str(text).strip() for text in values[column])]
    named = [column for column in texts if _CAPTION_NAMES.search(_slug(column))] or prose[:1]
    # Other columns may be called so too: only where the values are prose.
    named += [column for column in prose if column not in named and is_foil_name(_slug(column))]
    roles = _pair_roles(_roles(named, "caption", _TEXT_NAMES), "caption")
    return {column: f"{CAPTION}:{role}" for column, role in roles.items()}


def _roles(columns: Sequence[str], default: str, usual: Container[str]) -> dict[str, str]:
    """Return column -> role called like it; the first with a `usual` name gets `default`, unless one is called so."""
    roles: dict[str, str] = {}
    for column in sorted(columns, key=lambda column: _slug(column) in usual):
        is_default = _slug(column) in usual and default not in roles.values()
        roles[column] = _unused_name(default if is_default else guess_role(column) or default, roles.values())
    return roles


def _pair_roles(roles: Mapping[str, str], default: str) -> dict[str, str]:
    """Return `roles` with the names that questions and exports know a pair by, if one column is called like a foil.

    Of two columns, both are renamed; of more, the foil, if another column has the `default` role.
    """
    foils = [column for column in roles if is_foil_name(_slug(column))]
    if len(foils) != 1 or (len(roles) != 2 and default not in roles.values()):
        return dict(roles)
    renamed = dict.fromkeys(roles, default) if len(roles) == 2 else dict(roles)
    return renamed | {foils[0]: f"negative_{default}"}


def differ_only_in_number(columns: Sequence[str]) -> bool:
    """Return whether the names of columns differ only in their number, which gives them an order."""
    stems = [_stem_and_number(column)[0] for column in columns]
    return len(set(stems)) == 1 and not stems[0].startswith(_UNNUMBERED)


def _is_short(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and len(str(value)) <= LONGEST_KEY


def _names_rows(values: list[Any], rows: int) -> bool:
    """Return whether all rows have different values."""
    return bool(rows) and len(set(map(str, values))) == rows


def _slug(column: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", column.strip().lower()).strip("_")


@lru_cache(maxsize=1_000)
def _stem_and_number(column: str) -> tuple[str, int]:
    """Return what columns that differ only in their number have in common, and the number."""
    found = _NUMBERED.fullmatch(_slug(column))
    return (found["stem"], int(found["number"])) if found else (f"{_UNNUMBERED}{column}", 0)


def _unused_name(name: str, taken: Container[str]) -> str:
    """Return `name`, or it with the first number from 2 that makes it differ from those taken."""
    numbered = (f"{name[:25]}_{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)

"""Changes of a mapping after its table was imported, from what the instances store. Pure.

What the instances do not store cannot change: columns that were left out, and which column a picture was in where
several columns without numbers share a role.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from studies.importing.mapping import (
    CAPTION,
    IMAGE,
    NAMES,
    OTHER,
    TARGETS,
    ColumnMapping,
    column_of,
    columns_of_role,
    differ_only_in_number,
    problems_with_mapping,
    target_and_role,
)

TEXTS = (CAPTION, *NAMES, OTHER)
"""Targets of a column of texts; it can change from any to any other."""

Place = tuple[str, int | None]
"""Role and position of images; the position None means all of them."""


@dataclass(frozen=True)
class ImageMove:
    """Images of `old` become those of `new`. `each_has`: how many images every instance must have in the old role."""

    old: Place
    new: Place
    each_has: int | None = None


def targets_to_choose(target: str) -> Sequence[str]:
    """Return what a column with this target can become."""
    return TEXTS if target in TEXTS else (target,)


def problems_with_change(old: ColumnMapping, new: ColumnMapping) -> dict[str | None, str]:
    """Return column -> sentence for every change that is not possible; the key None is for the mapping as a whole."""
    columns = list(new)
    problems = problems_with_mapping(new, columns)
    for column in [*columns, *(name for name in old if name not in new)]:
        before, after = (target_and_role(mapping.get(column, OTHER))[0] for mapping in (old, new))
        if after not in targets_to_choose(before):
            problems.setdefault(
                column,
                f"{TARGETS[before]} cannot become {TARGETS.get(after, after)}, because what the file had in this "
                "column is not kept in this form. Import the file into a new project instead.",
            )
    if not problems and (unknown := _unordered(old, new)):
        for column in unknown:
            problems[column] = (
                "Lineup does not know which image of the role was in this column, because the names of "
                "the columns have no numbers. Give all columns of the role the same role, or import the "
                "file into a new project."
            )
    return problems


def image_moves(old: ColumnMapping, new: ColumnMapping) -> list[ImageMove]:
    """Return how images change their places; all moves happen at once."""
    moves = []
    for role, columns in _columns_by_role(new).items():
        if (whole := _whole_source(columns, old)) is not None:
            if whole != role:
                moves.append(ImageMove((whole, None), (role, None)))
            continue
        for position, column in enumerate(columns):
            source = target_and_role(old[column])[1]
            together = _columns_by_role(old)[source]
            place = together.index(column)
            moves.append(ImageMove((source, place), (role, position), each_has=len(together)))
    return moves


def right_answers(old: ColumnMapping, new: ColumnMapping) -> dict[str, str]:
    """Return option -> its name after the change, for every option whose name changes; "" for one that is removed.

    A name that ends in "-" or "_" is followed by a number: images of a role, further captions of a list.
    """
    renamed: dict[str, str] = {}
    captions = columns_of_role(old, CAPTION, list(old))
    for column, role in captions:
        target, after = target_and_role(new.get(column, OTHER))
        renamed |= {role: after, f"{role}_": f"{after}_"} if target == CAPTION else {role: ""}
    counts = Counter(role for _, role in columns_of_role(new, IMAGE, list(new)))
    for move in image_moves(old, new):
        (source, place), (role, position) = move.old, move.new
        if place is None:
            renamed |= {source: role, f"{source}-": f"{role}-"}
        else:
            named = role if counts[role] == 1 else f"{role}-{position}"
            renamed[f"{source}-{place}"] = named
            if move.each_has == 1:
                renamed[source] = named
    changed = {name: after for name, after in renamed.items() if name != after}
    # A role such as `caption_2` is separate, and not a further caption of another role.
    return changed | {role: renamed[role] for _, role in captions if f"{role.rpartition('_')[0]}_" in changed}


def renamed_right(right: Any, renamed: Mapping[str, str]) -> Any:
    """Return a right answer with the new names of its options, also in lists and objects."""
    if isinstance(right, list):
        return [renamed_right(part, renamed) for part in right]
    if isinstance(right, dict):
        return {renamed_right(name, renamed): renamed_right(part, renamed) for name, part in right.items()}
    if not isinstance(right, str):
        return right
    if right in renamed:
        return renamed[right]
    for mark in "-_":
        role, found, number = right.rpartition(mark)
        if number.isdecimal() and role + found in renamed:
            return f"{renamed[role + found]}{number}"
    return right


def texts_of_row(
    mapping: ColumnMapping, captions: Mapping[str, str], names: Mapping[str, str], other: Mapping[str, Any]
) -> dict[str, Any]:
    """Return column -> text of an imported row, from its captions, its type, subtype and split, and its notes."""
    fields = dict(other)
    for column, role in columns_of_role(mapping, CAPTION, list(mapping)):
        listed = [captions[role]] if role in captions else []
        for number in count(2):
            if f"{role}_{number}" not in captions or _is_role(f"{role}_{number}", mapping):
                break
            listed.append(captions[f"{role}_{number}"])
        fields[column] = listed if len(listed) > 1 else "".join(listed)
    columns = {name: column_of(mapping, name) for name in names}
    return fields | {column: names[name] for name, column in columns.items() if column is not None}


def _is_role(role: str, mapping: ColumnMapping) -> bool:
    return f"{CAPTION}:{role}" in mapping.values()


def _columns_by_role(mapping: ColumnMapping) -> dict[str, list[str]]:
    """Return role -> its image columns in order, as far as their numbers tell it."""
    found: dict[str, list[str]] = {}
    for column, role in columns_of_role(mapping, IMAGE, list(mapping)):
        found.setdefault(role, []).append(column)
    return found


def _whole_source(columns: Sequence[str], old: ColumnMapping) -> str | None:
    """Return the old role of these columns if they are all columns of one old role, else None."""
    roles = {target_and_role(old[column])[1] for column in columns}
    source = next(iter(roles))
    return source if len(roles) == 1 and set(columns) == set(_columns_by_role(old)[source]) else None


def _unordered(old: ColumnMapping, new: ColumnMapping) -> list[str]:
    """Return the columns of roles that are split or merged and whose order is not known."""
    before, after = _columns_by_role(old), _columns_by_role(new)
    unknown: list[str] = []
    for columns in after.values():
        if _whole_source(columns, old) is None:
            sources = {target_and_role(old[column])[1] for column in columns}
            for together in [columns, *(before[source] for source in sources)]:
                if len(together) > 1 and not differ_only_in_number(together):
                    unknown += columns
    return list(dict.fromkeys(unknown))

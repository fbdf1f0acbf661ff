"""Facts about images in JSON rows: source, licence, generator and SHA-256, for all images or for each."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from studies.importing.base import RowProblem, SourceImage

# Column of the row -> fact about an image. Both spellings are in use.
FACTS = {
    "sha256": "sha256",
    "source": "source",
    "sources": "source",
    "licence": "licence",
    "license": "licence",
    "licences": "licence",
    "generator": "generator",
    "generators": "generator",
}


def with_facts(
    row: int, fields: Mapping[str, Any], images: Sequence[SourceImage], problems: list[RowProblem]
) -> list[SourceImage]:
    """Return the images with their facts in `fields`; a list must have one entry per image, in order."""
    described = list(images)
    for column, fact in FACTS.items():
        value = fields.get(column)
        if value is None:
            continue
        if isinstance(value, list) and len(value) != len(images):
            problems.append(RowProblem(row, column, f"The list has {len(value)} entries for {len(images)} images."))
            continue
        for number, image in enumerate(described):
            part = value[number] if isinstance(value, list) else _share(value, number, len(images))
            described[number] = _set_fact(row, column, fact, image, part, problems)
    return described


def _set_fact(
    row: int, column: str, fact: str, image: SourceImage, part: Any, problems: list[RowProblem]
) -> SourceImage:
    if part is None:
        return image
    if isinstance(part, dict) and fact == "source":
        return replace(image, source=json.dumps(part, ensure_ascii=False))
    if not isinstance(part, str):
        problem = RowProblem(row, column, "The field must be a text, or a list with a text for each image.")
        if problem not in problems:
            problems.append(problem)
        return image
    changes: dict[str, Any] = {fact: part.lower() if fact == "sha256" else part}
    return replace(image, **changes)


def _share(value: Any, number: int, count: int) -> Any:
    """Return one image's share of a value for all images: its entry if the value is a list with one per image."""
    if not isinstance(value, dict):
        return value
    shares = {
        name: part[number] if isinstance(part, list) and len(part) == count else part for name, part in value.items()
    }
    return {name: part for name, part in shares.items() if part is not None}

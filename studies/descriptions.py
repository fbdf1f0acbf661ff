"""Descriptions of image sets: imported ones as an instance stores them, and sources of questions. Pure.

An instance is one image set. Its captions `description_1`, `description_2`, ... are its descriptions in the order of
the source file. Its reference lists their target images (from 0) under `targets`, if the source file has them, and
facts from companion files, by target, under `noted` (docs/decisions/0026-an-image-set-is-an-instance.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Source type of questions about an imported description; the source id is the description's number in its set, from 1.
DESCRIPTION = "description"
# Role of the images, in order.
SET = "set"
SET_SIZE = 10
STATIC, VIDEO = "static", "video"
# The training split.
TRAIN = "train"
# Keys in the reference.
TARGETS, NOTED, PUBLIC = "targets", "noted", "public_labels"
# Keys in the notes on a description.
AUTHOR, TAGS, LOOKED_FOR, PAIRED = "author", "tags", "looked_for", "paired"
TRAIN_WORKER, UNSEEN_WORKER = "train_worker", "unseen_worker"


@dataclass(frozen=True, slots=True)
class Description:
    """A description of one image of a set. `number`: its place among the descriptions of the set, from 1.

    `target`: index of the image from 0, None if the source withholds it. `author`: `train_worker` if the author also
    wrote for the training split, `unseen_worker` if not, "" if unknown. `tags`: phenomena found in it, of those
    `looked_for`. `paired`: index from 0 of the other image in the published pair (ImageCoDe-simple), None if unknown.
    """

    number: int
    text: str
    target: int | None = None
    author: str = ""
    tags: Sequence[str] = ()
    looked_for: Sequence[str] = ()
    paired: int | None = None

    @property
    def role(self) -> str:
        return role_of(self.number)


def image_of_set(place: int) -> str:
    """Return the item name of the image at index `place` (from 0). Example: 2 is "image_3"."""
    return f"image_{place + 1}"


def role_of(number: int) -> str:
    """Return the role of the `number`-th description of a set, from 1."""
    return f"description_{number}"


def descriptions_of(captions: Mapping[str, str], reference: Mapping[str, Any]) -> list[Description]:
    """Return the imported descriptions of an instance in the order of the source file."""
    targets = reference.get(TARGETS, ())
    noted = reference.get(NOTED, {})
    found = []
    for number in range(1, len(captions) + 1):
        if role_of(number) not in captions:
            break
        target = targets[number - 1] if number <= len(targets) else None
        about = noted.get(str(target), {})
        found.append(
            Description(
                number=number,
                text=captions[role_of(number)],
                target=target,
                author=about.get(AUTHOR, ""),
                tags=tuple(about.get(TAGS, ())),
                looked_for=tuple(about.get(LOOKED_FOR, ())),
                paired=about.get(PAIRED),
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class SourceDescription:
    """A description as the source of a question: its `text`, and the index of its image from 0."""

    text: str
    target: int


def source_description(source: Mapping[str, Any] | None) -> SourceDescription | None:
    """Return the description in the frozen `source` of a question, None if it has another source or none."""
    text, target = (source or {}).get("text"), (source or {}).get("target")
    if isinstance(text, str) and isinstance(target, int):
        return SourceDescription(text, target)
    return None


def fitting_notes(reference: Mapping[str, Any], notes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `notes` (by target) that are about a description of the set."""
    targets = {str(target) for target in reference.get(TARGETS, ())}
    return {target: about for target, about in notes.items() if target in targets}


def with_notes(reference: Mapping[str, Any], notes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reference of a set with `notes` (by target) added to its own."""
    noted = dict(reference.get(NOTED, {}))
    for target, about in notes.items():
        noted[target] = noted.get(target, {}) | dict(about)
    return {**reference, NOTED: noted}

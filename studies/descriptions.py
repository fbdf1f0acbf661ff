"""Descriptions of image sets: those that came with an import, as an instance keeps them, and what is handed on of those
that a study collects. Pure.

An instance is one image set. Its captions in the roles `description_1`, `description_2` and so on are its descriptions
in the order of the source; its reference says under `targets` which image each of them is about, from 0, and leaves
that out where the source does. What companion files know about a description stands in the reference under `noted`, by
its target (docs/decisions/0026-an-image-set-is-an-instance.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# What questions that are made from an imported description have as the type of their source; its id is the number of
# the description in its set, from 1.
DESCRIPTION = "description"
# The role of the images, which stand in it in their order.
SET = "set"
SET_SIZE = 10
STATIC, VIDEO = "static", "video"
# The split that models learn from.
TRAIN = "train"
# Keys of the reference.
TARGETS, NOTED, PUBLIC = "targets", "noted", "public_labels"
# Keys of what is noted about a description.
AUTHOR, TAGS, LOOKED_FOR, PAIRED = "author", "tags", "looked_for", "paired"
TRAIN_WORKER, UNSEEN_WORKER = "train_worker", "unseen_worker"


@dataclass(frozen=True, slots=True)
class Description:
    """What tells one image of a set apart. `number`: its place among those of the set, from 1.

    `target`: the place of the image, from 0, None where the source keeps that to itself. `author`: whether whoever
    wrote it also wrote for the training split (`train_worker`) or not (`unseen_worker`), "" where nobody says. `tags`:
    the phenomena found in it, of those that somebody `looked_for`. `paired`: the place of the other image in the
    published pair of images (ImageCoDe-simple), from 0, None where no file says it.
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
    """Return the item that the image at `place` of a set is, from 0. Example: 2 is "image_3"."""
    return f"image_{place + 1}"


def role_of(number: int) -> str:
    """Return the role of the `number`-th description of a set, from 1."""
    return f"description_{number}"


def descriptions_of(captions: Mapping[str, str], reference: Mapping[str, Any]) -> list[Description]:
    """Return the imported descriptions of an instance in the order of their source; none where it has none."""
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
class HandedOn:
    """What a question that asks about a description says of it: the `text`, and the place of its image, from 0."""

    text: str
    target: int


def handed_on(source: Mapping[str, Any] | None) -> HandedOn | None:
    """Return the description that a question was made from, by the frozen content of its source; None where it was made
    from something else, or from nothing."""
    text, target = (source or {}).get("text"), (source or {}).get("target")
    if isinstance(text, str) and isinstance(target, int):
        return HandedOn(text, target)
    return None


def notes_that_fit(reference: Mapping[str, Any], notes: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of `notes`, which are by target, that are about a description of the set."""
    targets = {str(target) for target in reference.get(TARGETS, ())}
    return {target: about for target, about in notes.items() if target in targets}


def with_notes(reference: Mapping[str, Any], notes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reference of a set with `notes`, which are by target, beside those that it has."""
    noted = dict(reference.get(NOTED, {}))
    for target, about in notes.items():
        noted[target] = noted.get(target, {}) | dict(about)
    return {**reference, NOTED: noted}

"""Benchmark questions of an accepted instance: which caption, which picture."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from results.exporting.rows import CAPTION_ROLES, IMAGE_ROLES, AcceptedInstance

CAPTION_OF_IMAGE, IMAGE_OF_CAPTION = "i2t", "t2i"


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with a right answer: a caption for a picture (`i2t`) or a picture for a caption (`t2i`).

    `about`: role of the subject. `images` (by SHA-256) and `captions`: in displayed order. `right`: index of the right
    option, 0 or 1.
    """

    about: str
    direction: str
    images: tuple[str, ...]
    captions: tuple[str, ...]
    right: int


def pictures_of(row: AcceptedInstance) -> dict[str, str]:
    """Return role of a pair -> SHA-256 of its first image, for roles with one."""
    firsts = row.first_images
    return {role: sha256 for role in IMAGE_ROLES if role in firsts and (sha256 := firsts[role].sha256)}


def matched(row: AcceptedInstance) -> Iterator[tuple[str, str, str]]:
    """Yield role, SHA-256 and caption of each picture of a pair."""
    pictures = pictures_of(row)
    for image, caption in zip(IMAGE_ROLES, CAPTION_ROLES, strict=True):
        if image in pictures and row.captions.get(caption):
            yield image, pictures[image], row.captions[caption]


def choices(row: AcceptedInstance) -> Iterator[Choice]:
    """Yield the possible questions about an instance.

    For both pictures which of the two captions, for both captions which of the two pictures; without a second picture,
    only for the first. The order follows from the SHA-256 of the question's name, so that half of the right answers
    come first.
    """
    pictures, captions = pictures_of(row), [row.captions.get(role, "") for role in CAPTION_ROLES]
    if not all(captions):
        return
    for place, role in enumerate(IMAGE_ROLES):
        if role in pictures:
            right = _drawn(row.key, role)
            shown = (captions[place], captions[1 - place])
            yield Choice(role, CAPTION_OF_IMAGE, (pictures[role],), _ordered(shown, right), right)
    if len(pictures) == len(IMAGE_ROLES):
        for place, role in enumerate(CAPTION_ROLES):
            right = _drawn(row.key, role)
            found = (pictures[IMAGE_ROLES[place]], pictures[IMAGE_ROLES[1 - place]])
            yield Choice(role, IMAGE_OF_CAPTION, _ordered(found, right), (captions[place],), right)


def _drawn(key: str, role: str) -> int:
    return hashlib.sha256(f"{key}/{role}".encode()).digest()[0] & 1


def _ordered(right_first: tuple[str, str], right: int) -> tuple[str, str]:
    one, other = right_first
    return (other, one) if right else (one, other)

"""Benchmark questions of an accepted instance: which caption, which picture."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from results.exporting.rows import CAPTION_COLUMNS, IMAGE_COLUMNS, AcceptedInstance

CAPTION_OF_IMAGE, IMAGE_OF_CAPTION = "i2t", "t2i"


@dataclass(frozen=True, slots=True)
class Choice:
    """A question with a right answer: a caption for a picture (`i2t`) or a picture for a caption (`t2i`).

    `about`: column of the subject. `images` (by SHA-256) and `captions`: in displayed order. `right`: index of the
    right option, 0 or 1.
    """

    about: str
    direction: str
    images: tuple[str, ...]
    captions: tuple[str, ...]
    right: int


def pictures_of(row: AcceptedInstance) -> dict[str, str]:
    """Return column of a pair -> SHA-256 of its image, for columns with one."""
    return {column: image.sha256 for column, image in row.pair_images.items() if image.sha256}


def captioned_pictures(row: AcceptedInstance) -> Iterator[tuple[str, str, str]]:
    """Yield column, SHA-256 and caption of each picture of a pair."""
    pictures, captions = pictures_of(row), row.pair_captions
    for image, caption in zip(IMAGE_COLUMNS, CAPTION_COLUMNS, strict=True):
        if image in pictures and captions[caption]:
            yield image, pictures[image], captions[caption]


def choices(row: AcceptedInstance) -> Iterator[Choice]:
    """Yield the possible questions about an instance.

    For both pictures which of the two captions, for both captions which of the two pictures; without a second picture,
    only for the first. The order follows from the SHA-256 of the question's name, so that half of the right answers
    come first.
    """
    pictures, captions = pictures_of(row), list(row.pair_captions.values())
    if not all(captions):
        return
    for place, role in enumerate(IMAGE_COLUMNS):
        if role in pictures:
            right = _draw_side(row.key, role)
            shown = (captions[place], captions[1 - place])
            yield Choice(role, CAPTION_OF_IMAGE, (pictures[role],), _order_sides(shown, right), right)
    if len(pictures) == len(IMAGE_COLUMNS):
        for place, role in enumerate(CAPTION_COLUMNS):
            right = _draw_side(row.key, role)
            found = (pictures[IMAGE_COLUMNS[place]], pictures[IMAGE_COLUMNS[1 - place]])
            yield Choice(role, IMAGE_OF_CAPTION, _order_sides(found, right), (captions[place],), right)


def _draw_side(key: str, role: str) -> int:
    return hashlib.sha256(f"{key}/{role}".encode()).digest()[0] & 1


def _order_sides(right_first: tuple[str, str], right: int) -> tuple[str, str]:
    one, other = right_first
    return (other, one) if right else (one, other)

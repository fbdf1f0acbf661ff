"""Images identified by their place in a folder: the n-th file img*.jpg, sorted by number.

ImageCoDe identifies them so. File names are known only with the folder, so the place serves as the file name, before
and after the import of the image.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from studies.wording import format_count

_PLACE = re.compile(r"(?P<folder>.+)/#(?P<place>\d{1,4})of(?P<size>\d{1,4})", re.DOTALL)
_IMAGE = re.compile(r"img(?P<number>.*)\.(?:jpe?g|png|webp)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,18}")


class NoSuchPlace(Exception):
    """The folder does not determine the image; the message is a sentence that says why.

    `absent`: the folder has too few images, so the others may still come.
    """

    def __init__(self, sentence: str, *, absent: bool = False) -> None:
        super().__init__(sentence)
        self.absent = absent


@dataclass(frozen=True, slots=True)
class Place:
    """The image at index `place` (from 0) of a folder that must have `size` images."""

    folder: str
    place: int
    size: int

    @property
    def filename(self) -> str:
        """The name of the image in place of its file name. Example: `kitchen/#3of10` is the fourth of ten."""
        return f"{self.folder}/#{self.place}of{self.size}"


def parse_place(filename: str) -> Place | None:
    """Return the place that a name encodes, None for an ordinary file name."""
    found = _PLACE.fullmatch(filename)
    return Place(found["folder"], int(found["place"]), int(found["size"])) if found else None


def number_of(name: str) -> int | None:
    """Return the number in an image's file name, None without one. Example: `a/img0042.jpg` has 42."""
    found = _IMAGE.fullmatch(name.rpartition("/")[2])
    return int(found["number"]) if found and _NUMBER.fullmatch(found["number"]) else None


def in_order(folder: str, names: Iterable[str], size: int) -> list[str]:
    """Return the `size` images among the files of a folder, sorted by number. Raises NoSuchPlace.

    Other files are ignored. Example: img2.jpg comes before img10.jpg.
    """
    images = [name for name in names if _IMAGE.fullmatch(name)]
    by_number: dict[int, str] = {}
    for name in sorted(images):
        number = number_of(name)
        if number is None:
            raise NoSuchPlace(f"The folder {folder} has an image {name} without a number. Name it img and a number.")
        if number in by_number:
            raise NoSuchPlace(f"The folder {folder} has the number {number} twice: {by_number[number]} and {name}.")
        by_number[number] = name
    if len(images) != size:
        count = format_count(len(images), "image")
        sentence = f"The folder {folder} has {count} named img and a number; an image set has {size}."
        raise NoSuchPlace(sentence, absent=len(images) < size)
    return [by_number[number] for number in sorted(by_number)]

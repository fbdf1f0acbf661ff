"""Images that are a part of a file: a rectangle of its pixels, named as the W3C's Media Fragments name one.

ARO shows models the region of a scene that its captions are about, and says where it lies. The name of the part is the
name of the image, so that several parts of one file are several images.
"""

import re
from dataclasses import dataclass

_PART = re.compile(r"(?P<file>.+)#xywh=(?P<box>\d{1,6},\d{1,6},\d{1,6},\d{1,6})", re.DOTALL | re.ASCII)


@dataclass(frozen=True, slots=True)
class Part:
    """`width` x `height` pixels of a file, of which the first is `left` from its left edge and `top` from its top."""

    file: str
    left: int
    top: int
    width: int
    height: int

    @property
    def box(self) -> tuple[int, int, int, int]:
        return self.left, self.top, self.width, self.height

    @property
    def filename(self) -> str:
        """The name of the part. Example: `images/7.jpg#xywh=160,120,320,240`."""
        return f"{self.file}#xywh={self.left},{self.top},{self.width},{self.height}"


def part_named(filename: str) -> Part | None:
    """Return the part that a file name stands for, None for the name of a file."""
    found = _PART.fullmatch(filename)
    return Part(found["file"], *map(int, found["box"].split(","))) if found else None

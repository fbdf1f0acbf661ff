"""Images that are a rectangle of a file's pixels, named by W3C Media Fragments.

ARO gives models only the region of a scene that a caption is about. Each part has its own name, so several parts of one
file are several images.
"""

import re
from dataclasses import dataclass

_PART = re.compile(r"(?P<file>.+)#xywh=(?P<box>\d{1,6},\d{1,6},\d{1,6},\d{1,6})", re.DOTALL | re.ASCII)


@dataclass(frozen=True, slots=True)
class Part:
    """A rectangle of `width` x `height` pixels of a file, at offset (`left`, `top`) in pixels."""

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
        """Name of the part. Example: `images/7.jpg#xywh=160,120,320,240`."""
        return f"{self.file}#xywh={self.left},{self.top},{self.width},{self.height}"


def parse_part(filename: str) -> Part | None:
    """Return the part that a name encodes, None for an ordinary file name."""
    found = _PART.fullmatch(filename)
    return Part(found["file"], *map(int, found["box"].split(","))) if found else None

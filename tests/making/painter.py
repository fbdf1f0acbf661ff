"""A maker of images for the tests of what carries messages: the colour of an image follows from its text and seed.

`paint:plain`; `paint:broken` cannot be loaded. The worker under test knows it by `tests.making.with_painter`. Where the
environment names a folder PAINT_GATE, the worker stops in its second batch, makes the file `reached` there, and goes on
when there is a file `open`.
"""

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import ClassVar

from PIL import Image

from making.errors import CannotMake
from making.makers import LoadedMaker, MadeImage, Maker, MakerIdentity, NothingMade, Request

BROKEN = "This model is broken. Mend it."
UNSAFE = "The checker classifies the image as nsfw."
STOPS_IN = 2


class Paint(Maker):
    policies: ClassVar[Mapping[str, str]] = {"plain": "Paint.", "broken": "Fail."}
    makes_images: ClassVar[bool] = True
    on_worker: ClassVar[bool] = True

    def load(self, policy: str) -> LoadedMaker:
        if policy == "broken":
            raise CannotMake(BROKEN)
        return Painter()


class Painter(LoadedMaker):
    identity = MakerIdentity("paint:plain", "1", "0" * 64)

    def __init__(self) -> None:
        self._batches = 0

    def make(self, requests: Sequence[Request]) -> list[Sequence[MadeImage] | NothingMade]:
        self._batches += 1
        if self._batches == STOPS_IN:
            wait_at_the_gate()
        return [self._make(request) for request in requests]

    def _make(self, request: Request) -> Sequence[MadeImage] | NothingMade:
        if "nothing" in request.text:
            return NothingMade("There is nothing to see.")
        problem = UNSAFE if "unsafe" in request.text else ""
        seeds = [request.seed + number for number in range(request.count)]
        return [MadeImage(paint(request.text, seed), seed, request.text, problem) for seed in seeds]


def paint(text: str, seed: int) -> bytes:
    """Return a PNG file whose colour follows from the text and the seed."""
    red, green, blue = hashlib.sha256(f"{text}|{seed}".encode()).digest()[:3]
    out = BytesIO()
    Image.new("RGB", (32, 24), (red, green, blue)).save(out, "PNG")
    return out.getvalue()


def wait_at_the_gate() -> None:
    """Tell the test that it has come here, and wait until it opens the gate, if there is one."""
    if "PAINT_GATE" not in os.environ:
        return
    gate = Path(os.environ["PAINT_GATE"])
    (gate / "reached").touch()
    while not (gate / "open").exists():
        time.sleep(0.05)

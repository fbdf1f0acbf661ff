"""A family of models for the tests of what carries messages: its scores are digests, so anybody can compute them.

`plain:WEIGHTS` is a model; `plain:broken` cannot be loaded. Imported by the worker under test (`--include`). Where the
environment names a folder PLAIN_GATE, the worker stops in its third chunk, makes the file `reached` there, and goes on
when there is a file `open`.
"""

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from predictions.scorers import SCORERS, CannotLoad, ModelIdentity, NoPicture, OpenPicture, Scorer

BROKEN = "This model is broken. Mend it."
# Makes chunks of a few questions, two pictures each, out of 20 seconds.
PICTURES_PER_SECOND = 0.5
STOPS_IN = 3


def digest_score(weights: str, text: str, picture: str) -> float:
    """Return a number from 0 to 1 that follows from the weights, the text and the picture's SHA-256."""
    return int.from_bytes(hashlib.sha256(f"{weights}|{text}|{picture}".encode()).digest()[:4], "big") / 2**32


class Plain(Scorer):
    def __init__(self, weights: str) -> None:
        self.identity = ModelIdentity("plain", "1", weights)
        self.chunks = 0

    def conditions(self) -> Mapping[str, Any]:
        return {"dtype": "none", "batch": 1}

    def score(self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture) -> Sequence[float | NoPicture]:
        self.chunks += 1
        if self.chunks == STOPS_IN:
            _wait_at_the_gate()
        return [self._score(text, picture, open_picture) for text, picture in pairs]

    def _score(self, text: str, picture: str, open_picture: OpenPicture) -> float | NoPicture:
        try:
            open_picture(picture)
        except NoPicture as error:
            return error
        return digest_score(self.identity.weights, text, picture)

    def pictures_per_second(self) -> float:
        return PICTURES_PER_SECOND


def load(rest: str) -> Plain:
    if rest == "broken":
        raise CannotLoad(BROKEN)
    return Plain(rest)


def _wait_at_the_gate() -> None:
    gate = Path(os.environ["PLAIN_GATE"]) if "PLAIN_GATE" in os.environ else None
    if gate is None:
        return
    (gate / "reached").touch()
    while not (gate / "open").exists():
        time.sleep(0.05)


SCORERS["plain"] = f"{__name__}.load"

"""Models that look at a text and a picture together and say whether they belong together.

What all of these share: the states of a picture computed once and held against all its texts, batches of one shape,
pictures decoded ahead, batches halved when memory does not suffice. Pure: the library is in the subclass.
"""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.scorers.base import ModelIdentity, NoPicture, OpenPicture, OutOfMemory, Scorer
from predictions.scorers.batches import filled, in_batches, read_ahead

TRIALS = 2


class Matching(Scorer):
    """A model with one tower for pictures, whose states another one reads together with a text."""

    def __init__(self, identity: ModelIdentity, *, batch: int) -> None:
        self.identity = identity
        self.batch = batch
        self.halved = 0

    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """Return what is to be known of its scores besides the shape of its batches, plain JSON."""

    @abstractmethod
    def preprocess(self, picture: Image.Image) -> NDArray[Any]:
        """Return the picture as the model takes it, always of one shape and type. Called from threads."""

    @abstractmethod
    def tokenize(self, text: str) -> NDArray[Any]:
        """Return the text as the model takes it, always of one shape and type."""

    @abstractmethod
    def look(self, batch: NDArray[Any]) -> Any:
        """Return the states of a batch of pictures, which `match` reads, a row each. Raises OutOfMemory."""

    @abstractmethod
    def match(self, states: Any, places: Sequence[int], texts: NDArray[Any]) -> NDArray[np.float32]:
        """Return for each of a batch of texts how well it belongs to the picture whose states are at its place, higher
        is better. Raises OutOfMemory."""

    def conditions(self) -> Mapping[str, Any]:
        return {**self.facts(), "batch": self.batch, "halved": self.halved}

    def score(self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture) -> Sequence[float | NoPicture]:
        """See `Scorer.score`. When a batch does not fit, begins anew with half of it."""
        while True:
            try:
                found = self._score(pairs, open_picture)
                return [found[pair] for pair in pairs]
            except OutOfMemory:
                self._halve()

    def pictures_per_second(self) -> float:
        """Return how many pictures with a text each it takes in a second; the first batch is not timed."""
        blank = self.preprocess(Image.new("RGB", (640, 480), "grey"))
        while True:
            try:
                seconds = [self._seconds(blank) for _ in range(1 + TRIALS)]
                return self.batch / max(min(seconds[1:]), 1e-6)
            except OutOfMemory:
                self._halve()

    def _halve(self) -> None:
        """Halve the batch. Raises OutOfMemory where it is of one already."""
        if self.batch == 1:
            raise OutOfMemory
        self.batch //= 2
        self.halved += 1

    def _seconds(self, blank: NDArray[Any]) -> float:
        begun = perf_counter()
        states = self.look(np.stack([blank] * self.batch))
        self.match(states, range(self.batch), np.stack([self.tokenize("a grey wall")] * self.batch))
        return perf_counter() - begun

    def _score(
        self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture
    ) -> dict[tuple[str, str], float | NoPicture]:
        texts_of: dict[str, dict[str, None]] = defaultdict(dict)
        for text, picture in pairs:
            texts_of[picture][text] = None
        gone: dict[str, NoPicture] = {}

        def read(name: str) -> NDArray[Any]:
            return self.preprocess(open_picture(name))

        found: dict[tuple[str, str], float | NoPicture] = {}
        for batch in read_ahead(list(texts_of), read, batch=self.batch, missing=gone):
            states = self.look(filled([pixels for _, pixels in batch], self.batch))
            asked = [(text, picture, place) for place, (picture, _) in enumerate(batch) for text in texts_of[picture]]
            for some in in_batches(asked, self.batch):
                texts = filled([self.tokenize(text) for text, _, _ in some], self.batch)
                places = [place for _, _, place in some] + [0] * (self.batch - len(some))
                scores = self.match(states, places, texts)
                for (text, picture, _), score in zip(some, scores[: len(some)], strict=True):
                    found[text, picture] = float(score)
        return {**found, **{(text, picture): gone[picture] for text, picture in pairs if picture in gone}}

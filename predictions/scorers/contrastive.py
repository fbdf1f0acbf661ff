"""Models that give a picture and a text a vector each: how well they belong together is the cosine between the two.

What all of these share, whichever library they come from: batches of one shape, pictures decoded ahead of the model,
vectors kept, batches halved when memory does not suffice. Pure: the library is in the subclass.
"""

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.scorers.base import ModelIdentity, NoPicture, OpenPicture, OutOfMemory, Scorer
from predictions.scorers.batches import filled, in_batches, read_ahead

Vector = NDArray[np.float32]
# What one process keeps of vectors: of 1,024 numbers each, 131,072 of them.
BYTES_KEPT = 512 * 2**20
TRIALS = 2


class Contrastive(Scorer):
    """A model of two towers.

    Every batch has the same shape, filled up with zeros where there are fewer pictures or texts: otherwise a library
    may choose another way to compute, and the same picture gets another vector in other company.
    """

    def __init__(self, identity: ModelIdentity, *, batch: int) -> None:
        self.identity = identity
        self.batch = batch
        self.halved = 0
        self._pictures = _Kept()
        self._texts = _Kept()

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
    def embed_pictures(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        """Return a vector for each picture of a batch, a row each, of any length. Raises OutOfMemory."""

    @abstractmethod
    def embed_texts(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        """Return a vector for each text of a batch, a row each, of any length. Raises OutOfMemory."""

    def conditions(self) -> Mapping[str, Any]:
        return {**self.facts(), "score": "cosine", "batch": self.batch, "halved": self.halved}

    def score(self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture) -> Sequence[float | NoPicture]:
        """Return the cosines, -1 to 1; see `Scorer.score`. When a batch does not fit, begins anew with half of it."""
        while True:
            try:
                texts = self._of_texts([text for text, _ in pairs])
                pictures = self._of_pictures([picture for _, picture in pairs], open_picture)
                return [_cosine(texts[text], pictures[picture]) for text, picture in pairs]
            except OutOfMemory:
                if self.batch == 1:
                    raise
                # Vectors of before were computed under another shape.
                self.batch //= 2
                self.halved += 1
                self._pictures.clear()
                self._texts.clear()

    def pictures_per_second(self) -> float:
        """Return the speed of the picture tower; see `Scorer.pictures_per_second`. The first batch is not timed."""
        blank = self.preprocess(Image.new("RGB", (640, 480), "grey"))
        while True:
            try:
                seconds = [self._seconds(blank) for _ in range(1 + TRIALS)]
                return self.batch / max(min(seconds[1:]), 1e-6)
            except OutOfMemory:
                if self.batch == 1:
                    raise
                self.batch //= 2
                self.halved += 1

    def _seconds(self, blank: NDArray[Any]) -> float:
        begun = perf_counter()
        self.embed_pictures(np.stack([blank] * self.batch))
        return perf_counter() - begun

    def _of_texts(self, texts: Sequence[str]) -> dict[str, Vector]:
        found, missing = self._texts.split(texts)
        for batch in in_batches(missing, self.batch):
            vectors = self.embed_texts(filled([self.tokenize(text) for text in batch], self.batch))
            found |= self._texts.keep(dict(zip(batch, _normalized(vectors[: len(batch)]), strict=True)))
        return found

    def _of_pictures(self, names: Sequence[str], open_picture: OpenPicture) -> dict[str, Vector | NoPicture]:
        found, missing = self._pictures.split(names)
        gone: dict[str, NoPicture] = {}

        def read(name: str) -> NDArray[Any]:
            return self.preprocess(open_picture(name))

        for batch in read_ahead(missing, read, batch=self.batch, missing=gone):
            vectors = self.embed_pictures(filled([pixels for _, pixels in batch], self.batch))
            read_names = [name for name, _ in batch]
            found |= self._pictures.keep(dict(zip(read_names, _normalized(vectors[: len(batch)]), strict=True)))
        return {**found, **gone}


class _Kept:
    """Vectors by name; the ones that were not asked for longest go when there are too many."""

    def __init__(self) -> None:
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    def split(self, names: Sequence[str]) -> tuple[dict[str, Vector], list[str]]:
        """Return what is kept of `names`, and those that are not, each once, in their order."""
        found = {}
        missing = {}
        for name in names:
            if name in self._vectors:
                self._vectors.move_to_end(name)
                found[name] = self._vectors[name]
            else:
                missing[name] = True
        return found, list(missing)

    def keep(self, vectors: Mapping[str, Vector]) -> Mapping[str, Vector]:
        self._vectors.update(vectors)
        while self._vectors and len(self._vectors) * next(iter(self._vectors.values())).nbytes > BYTES_KEPT:
            self._vectors.popitem(last=False)
        return vectors

    def clear(self) -> None:
        self._vectors.clear()


def _normalized(vectors: NDArray[np.float32]) -> Vector:
    """Return the rows with length 1; a row of zeros stays one, and has cosine 0 with all."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def _cosine(text: Vector, picture: Vector | NoPicture) -> float | NoPicture:
    if isinstance(picture, NoPicture):
        return picture
    return float(np.dot(text.astype(np.float64), picture.astype(np.float64)))

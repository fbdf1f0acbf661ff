"""Models that give a picture and a text a vector each: how well they belong together is the cosine between the two.

What all of these share, whichever library they come from: each picture and text looked at once, and its vector kept.
Pure: the library is in the subclass.
"""

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictions.scorers.base import ModelIdentity, NoPicture, OpenPicture
from predictions.scorers.batches import Batched, filled, in_batches, read_ahead

Vector = NDArray[np.float32]
# What one process keeps of vectors: of 1,024 numbers each, 131,072 of them.
BYTES_KEPT = 512 * 2**20


class Contrastive(Batched):
    """A model of two towers."""

    def __init__(self, identity: ModelIdentity, *, batch: int) -> None:
        super().__init__(identity, batch=batch)
        self._pictures = _Kept()
        self._texts = _Kept()

    @abstractmethod
    def embed_pictures(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        """Return a vector for each picture of a batch, a row each, of any length. Raises OutOfMemory."""

    @abstractmethod
    def embed_texts(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        """Return a vector for each text of a batch, a row each, of any length. Raises OutOfMemory."""

    def conditions(self) -> Mapping[str, Any]:
        return {**super().conditions(), "score": "cosine"}

    def score_in_batches(
        self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture
    ) -> Sequence[float | NoPicture]:
        """Return the cosines, -1 to 1."""
        texts = self._of_texts([text for text, _ in pairs])
        pictures = self._of_pictures([picture for _, picture in pairs], open_picture)
        return [_cosine(texts[text], pictures[picture]) for text, picture in pairs]

    def try_batch(self, picture: NDArray[Any]) -> int:
        return len(self.embed_pictures(np.stack([picture] * self.batch)))

    def forget(self) -> None:
        self._pictures.clear()
        self._texts.clear()

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
            pixels: NDArray[Any] = self.preprocess(open_picture(name))
            return pixels

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

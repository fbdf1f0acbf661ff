"""Pictures as their embeddings. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from predictions.image_sets.embedding import Embedding, Vectors
from predictions.scorers import NoPicture, OpenPicture

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Pictures:
    """The embedding of a picture, each number around its mean and by its spread over the pictures that it is fitted to.

    Embeddings are kept: a picture stands in several questions, and each fold wants all of them.
    """

    def __init__(self, embedding: Embedding, open_picture: OpenPicture) -> None:
        self._embedding, self._open = embedding, open_picture
        self._kept: dict[str, Vectors] = {}
        self._mean = self._spread = np.zeros(0)

    def conditions(self) -> Mapping[str, Any]:
        return {"embedding": self._embedding.name}

    def missing(self, options: Iterable[str]) -> Mapping[str, NoPicture]:
        gone: dict[str, NoPicture] = {}
        for name in dict.fromkeys(options):
            try:
                self._vectors([name])
            except NoPicture as error:
                gone[name] = error
        return gone

    def fit(self, options: Sequence[str]) -> None:
        vectors = self._vectors(list(dict.fromkeys(options))).astype(np.float64)
        self._mean, spread = vectors.mean(axis=0), vectors.std(axis=0)
        self._spread = np.where(spread > 0, spread, 1.0)

    def rows(self, options: Sequence[str]) -> "csr_array":
        from scipy.sparse import csr_array

        return csr_array((self._vectors(options) - self._mean) / self._spread)

    def _vectors(self, options: Sequence[str]) -> Vectors:
        for name in options:
            if name not in self._kept:
                self._kept[name] = self._embedding.embed([self._open(name)])[0]
        return np.stack([self._kept[name] for name in options])

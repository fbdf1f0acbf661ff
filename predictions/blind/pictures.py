"""Pictures as their vectors, by whatever embedding. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from predictions.image_sets.embeddings import Embedding, Vectors
from predictions.scorers import NoPicture, OpenPicture

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The vectors of pictures by their names, all of one length, and why there is none of the others.
VectorsOf = Callable[[Sequence[str]], tuple[Mapping[str, Vectors], Mapping[str, NoPicture]]]


@dataclass(frozen=True)
class Look:
    """How pictures become vectors. `told`: what is to be known of it, plain JSON."""

    told: Mapping[str, Any]
    vectors_of: VectorsOf


def looking(embedding: Embedding, open_picture: OpenPicture) -> Look:
    """Return the look of an embedding at pictures that are opened here, one by one."""

    def vectors_of(names: Sequence[str]) -> tuple[Mapping[str, Vectors], Mapping[str, NoPicture]]:
        found: dict[str, Vectors] = {}
        gone: dict[str, NoPicture] = {}
        for name in names:
            try:
                found[name] = embedding.embed([open_picture(name)])[0]
            except NoPicture as error:
                gone[name] = error
        return found, gone

    return Look({"embedding": embedding.name}, vectors_of)


class Pictures:
    """The vector of a picture, each number around its mean and by its spread over the pictures that it is fitted to.

    Vectors are kept: a picture stands in several questions, and each fold wants all of them.
    """

    def __init__(self, look: Look) -> None:
        self._look = look
        self._kept: dict[str, Vectors] = {}
        self._gone: dict[str, NoPicture] = {}
        self._mean = self._spread = np.zeros(0)

    def conditions(self) -> Mapping[str, Any]:
        return self._look.told

    def missing(self, options: Iterable[str]) -> Mapping[str, NoPicture]:
        names = dict.fromkeys(options)
        self._see(names)
        return {name: self._gone[name] for name in names if name in self._gone}

    def fit(self, options: Sequence[str]) -> None:
        vectors = self._vectors(list(dict.fromkeys(options))).astype(np.float64)
        self._mean, spread = vectors.mean(axis=0), vectors.std(axis=0)
        self._spread = np.where(spread > 0, spread, 1.0)

    def rows(self, options: Sequence[str]) -> "csr_array":
        from scipy.sparse import csr_array

        return csr_array((self._vectors(options) - self._mean) / self._spread)

    def _vectors(self, options: Sequence[str]) -> Vectors:
        self._see(options)
        return np.stack([self._kept[name] for name in options])

    def _see(self, options: Iterable[str]) -> None:
        unseen = [name for name in dict.fromkeys(options) if name not in self._kept and name not in self._gone]
        if unseen:
            found, gone = self._look.vectors_of(unseen)
            self._kept |= found
            self._gone |= gone

"""Images as vectors of any embedding. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Vectors = NDArray[np.float32]
# Vectors of images by name, all of one length, and why the others have none.
VectorsOf = Callable[[Sequence[str]], tuple[Mapping[str, Vectors], Mapping[str, Exception]]]


@dataclass(frozen=True)
class VectorSource:
    """How images become vectors. `conditions`: the embedding, as plain JSON."""

    conditions: Mapping[str, Any]
    vectors_of: VectorsOf


class PictureFeatures:
    """The vectors of images, each number standardised over the images of `fit`.

    Vectors are kept, because an image is in several questions and every fold needs it.
    """

    def __init__(self, source: VectorSource) -> None:
        self._source = source
        self._kept: dict[str, Vectors] = {}
        self._missing: dict[str, Exception] = {}
        # Set by `fit`.
        self._scaler: Any = None

    def conditions(self) -> Mapping[str, Any]:
        return self._source.conditions

    def missing(self, options: Iterable[str]) -> Mapping[str, Exception]:
        names = dict.fromkeys(options)
        self._load(names)
        return {name: self._missing[name] for name in names if name in self._missing}

    def fit(self, options: Sequence[str]) -> None:
        from sklearn.preprocessing import StandardScaler

        self._scaler = StandardScaler().fit(self._vectors(options))

    def rows(self, options: Sequence[str]) -> "csr_array":
        from scipy.sparse import csr_array

        return csr_array(self._scaler.transform(self._vectors(options)))

    def _vectors(self, options: Sequence[str]) -> NDArray[np.float64]:
        self._load(options)
        return np.stack([self._kept[name] for name in options]).astype(np.float64)

    def _load(self, options: Iterable[str]) -> None:
        new = [name for name in dict.fromkeys(options) if name not in self._kept and name not in self._missing]
        if new:
            found, missing = self._source.vectors_of(new)
            self._kept |= found
            self._missing |= missing

"""Find images that show the pixels of others, by their vectors: saved again, resized, mirrored, grey, cropped. Pure."""

import numpy as np

from predictions.image_sets.embeddings import Vectors

# Directions in which vectors are compared first.
_DIRECTIONS = 64
_MOST_SAMPLED = 4096
_MANY = 0.01
_AT_ONCE = 8192
# Vectors are stored in half precision, and summed in single precision.
_ROUNDING = 1e-3


class NearImages:
    """Finds the nearest of some images: 1 - cosine of their vectors under `below`, as `nearest_below` measures it.

    vectors: shape (images, dimensions), of length 1, in single or half precision. They are first compared in few
    directions, with the most that the others can add (Cauchy and Schwarz), so that no pair is missed.
    """

    def __init__(self, vectors: Vectors, *, below: float) -> None:
        self._vectors, self._below = vectors, below
        self._basis = _main_directions(vectors)
        self._short = self._shorten(vectors)

    def nearest(self, vectors: Vectors) -> dict[int, tuple[float, int]]:
        """Return place of an image -> distance and place of the nearest of the index; only near ones.

        Give about a thousand at once.
        """
        found: dict[int, tuple[float, int]] = {}
        if not len(self._vectors) or not len(vectors):
            return found
        short = self._shorten(vectors)
        for begin in range(0, len(self._vectors), _AT_ONCE):
            own = self._vectors[begin : begin + _AT_ONCE]
            possible = short @ self._short[begin : begin + _AT_ONCE].T > 1 - self._below - _ROUNDING
            # Where the directions tell little, a whole product is quicker than many parts of it.
            whole = 1 - vectors @ own.astype(np.float32).T if possible.mean() > _MANY else None
            for place in np.flatnonzero(possible.any(axis=1)).tolist():
                others = np.flatnonzero(possible[place])
                near = own[others].astype(np.float32)
                apart = 1 - near @ vectors[place] if whole is None else whole[place, others]
                least = int(apart.argmin())
                if apart[least] < min(self._below, found.get(place, (np.inf,))[0]):
                    found[place] = (float(apart[least]), begin + int(others[least]))
        return {place: (round(max(0.0, apart), 4), other) for place, (apart, other) in found.items()}

    def _shorten(self, vectors: Vectors) -> Vectors:
        """Return vectors in the main directions, and then the length of the rest, so that products are upper bounds."""
        found = np.empty((len(vectors), self._basis.shape[1] + 1), np.float32)
        for begin in range(0, len(vectors), _AT_ONCE):
            some = vectors[begin : begin + _AT_ONCE].astype(np.float32)
            short = some @ self._basis
            rest = np.sqrt(np.clip((some**2).sum(axis=1) - (short**2).sum(axis=1), 0, None))
            found[begin : begin + _AT_ONCE] = np.column_stack([short, rest])
        return found


def _main_directions(vectors: Vectors) -> Vectors:
    """Return orthonormal directions in which vectors differ most, shape (dimensions, at most `_DIRECTIONS`)."""
    sample = vectors[:: max(1, len(vectors) // _MOST_SAMPLED)].astype(np.float64)
    _, directions = np.linalg.eigh(sample.T @ sample)
    return np.asarray(directions[:, -_DIRECTIONS:], np.float32)

"""Which pictures stand together in a set."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from PIL import Image

from predictions.image_sets.embedding import Vectors, distances

_Frame = TypeVar("_Frame")

# The longest side, in pixels, at which it is measured how sharp a picture is: else a large picture would look sharper.
SHARPNESS_SIDE = 256
SHARPNESS = "variance of the Laplacian at 256 pixels"


@dataclass(frozen=True, slots=True)
class Alike:
    """How far the pictures of a set are from each other, as `distances` says: over all of its pairs."""

    least: float
    mean: float
    most: float


def how_alike(vectors: Vectors) -> Alike:
    """Return how far at least two pictures are from each other. Raises ValueError for fewer."""
    if len(vectors) < 2:
        raise ValueError("One picture is not far from anything.")
    apart = distances(vectors, vectors)[np.triu_indices(len(vectors), 1)]
    return Alike(float(apart.min()), float(apart.mean()), float(apart.max()))


def nearest_sets(vectors: Vectors, order: Sequence[int], *, size: int, same_below: float) -> Iterator[list[int]]:
    """Yield sets of `size` pictures by their rows in `vectors`: a picture and those nearest to it, nearest first.

    Each picture stands in one set at most; `order` says which is asked first for its neighbours. Two that are closer
    than `same_below` are one and the same to the eye, and never stand in one set. A picture that too few are left for
    opens no set, and stays free for others. One row of distances is held at a time.
    """
    free = np.ones(len(vectors), bool)
    for first in order:
        if not free[first]:
            continue
        away = distances(vectors[[first]], vectors)[0]
        chosen = [first]
        for other in np.argsort(away, kind="stable"):
            if len(chosen) == size:
                break
            if other == first or not free[other]:
                continue
            if distances(vectors[[other]], vectors[chosen]).min() >= same_below:
                chosen.append(int(other))
        if len(chosen) == size:
            free[chosen] = False
            yield chosen


def sets_of_frames(
    frames: Iterable[tuple[_Frame, Vectors]], *, size: int, least_distance: float
) -> Iterator[tuple[list[_Frame], Vectors]]:
    """Yield sets of `size` frames of one shot in the order of time, with their vectors in rows.

    `frames`: what a frame is called, and its vector of shape (dimensions,). One is kept when it is at least
    `least_distance` from every frame of the set so far; the set that is not full when the shot ends is dropped.
    """
    kept: list[_Frame] = []
    rows: list[Vectors] = []
    for frame, vector in frames:
        if rows and distances(vector[None], np.stack(rows)).min() < least_distance:
            continue
        kept.append(frame)
        rows.append(vector)
        if len(kept) == size:
            yield kept, np.stack(rows)
            kept, rows = [], []


def sharpness(picture: Image.Image) -> float:
    """Return the variance of the Laplacian of a picture's brightness (0 to 255), its longest side 256 pixels: 0 for
    what is flat, low for what is blurred (Pech-Pacheco et al. 2000)."""
    scale = SHARPNESS_SIDE / max(picture.size)
    width, height = (max(3, round(side * scale)) for side in picture.size)
    grey = np.asarray(picture.convert("L").resize((width, height), Image.Resampling.BOX), np.float64)
    middle = grey[1:-1, 1:-1]
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    return float(np.var(around - 4 * middle))

"""Select the images of a set."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import numpy as np
from PIL import Image

from predictions.image_sets.embeddings import Vectors, distances

_Frame = TypeVar("_Frame")

# Sharpness is measured at one size, because a larger image would look sharper.
SHARPNESS_SIDE = 256
SHARPNESS = "variance of the Laplacian at 256 pixels"
MOST = 2.0


class LeftOut(StrEnum):
    """The reason why a photo or a frame is in no set."""

    SAME = "the same as a photo that is in a set"
    FEW_ALIKE = "too few similar photos"
    TAKEN = "similar photos are in other sets, or too different from each other"
    BLURRED = "blurred"
    TEXT = "full of text"
    TOO_CLOSE = "too close to a frame of their set"
    TOO_FAR = "their set ended at a frame that differs too much"
    UNFINISHED = "their shot ended before the set was full"


def distance_summary(vectors: Vectors) -> tuple[float, float, float]:
    """Return the least, mean and largest distance (`distances`) over all pairs of the images.

    Raises ValueError for fewer than two images.
    """
    if len(vectors) < 2:
        raise ValueError("Distances within a set need at least two images.")
    apart = distances(vectors, vectors)[np.triu_indices(len(vectors), 1)]
    return float(apart.min()), float(apart.mean()), float(apart.max())


@dataclass(frozen=True, slots=True)
class Bounds:
    """Conditions for sets of photos: `size` of them; distances (`distances`, 0 to 2) between any two within bounds.

    `same_below`: the least distance, because closer photos look the same. `most_distance`: the largest.
    """

    size: int
    same_below: float
    most_distance: float = MOST


def nearest_sets(vectors: Vectors, order: Sequence[int], bounds: Bounds) -> Iterator[list[int]]:
    """Yield sets of images within `bounds`, as rows of `vectors`: an image, then its neighbours, nearest first.

    Each image is in one set at most; `order`: the order in which images are tried. An image with too few free
    neighbours forms no set and stays free for others. Memory: one row of distances.
    """
    free = np.ones(len(vectors), bool)
    for first in order:
        if not free[first]:
            continue
        away = distances(vectors[[first]], vectors)[0]
        chosen = [first]
        for other in np.argsort(away, kind="stable"):
            if len(chosen) == bounds.size:
                break
            if away[other] > bounds.most_distance:
                break
            if other == first or not free[other]:
                continue
            apart = distances(vectors[[other]], vectors[chosen])
            if apart.min() >= bounds.same_below and apart.max() <= bounds.most_distance:
                chosen.append(int(other))
        if len(chosen) == bounds.size:
            free[chosen] = False
            yield chosen


def excluded_images(vectors: Vectors, used: Collection[int], bounds: Bounds) -> Iterator[tuple[int, LeftOut, float]]:
    """Yield the row of each image in no set, why, and its distance from the nearest other image.

    used: the rows of images in the sets of `nearest_sets`.
    """
    in_sets = np.zeros(len(vectors), bool)
    in_sets[list(used)] = True
    for row in np.flatnonzero(~in_sets).tolist():
        away = distances(vectors[[row]], vectors)[0]
        away[row] = np.inf
        if (away[in_sets] < bounds.same_below).any():
            reason = LeftOut.SAME
        elif ((away >= bounds.same_below) & (away <= bounds.most_distance)).sum() < bounds.size - 1:
            reason = LeftOut.FEW_ALIKE
        else:
            reason = LeftOut.TAKEN
        yield row, reason, float(away.min())


def sets_of_frames(
    frames: Iterable[tuple[_Frame, Vectors]],
    *,
    size: int,
    least_distance: float,
    most_distance: float = MOST,
    left_out: Counter[LeftOut] | None = None,
) -> Iterator[tuple[list[_Frame], Vectors]]:
    """Yield sets of `size` frames of one shot in time order, with their vectors in rows.

    `frames`: name and vector, shape (dimensions,), of each frame. A frame is added if it is at least `least_distance`
    from every frame of the set so far. A frame more than `most_distance` from any of them ends the set and begins
    another. Incomplete sets are dropped. `left_out`: receives the number of frames in no set, by reason.
    """
    counted = Counter() if left_out is None else left_out
    kept: list[_Frame] = []
    rows: list[Vectors] = []
    for frame, vector in frames:
        apart = distances(vector[None], np.stack(rows))[0] if rows else None
        if apart is not None and apart.min() < least_distance:
            counted[LeftOut.TOO_CLOSE] += 1
            continue
        if apart is not None and apart.max() > most_distance:
            counted[LeftOut.TOO_FAR] += len(kept)
            kept, rows = [], []
        kept.append(frame)
        rows.append(vector)
        if len(kept) == size:
            yield kept, np.stack(rows)
            kept, rows = [], []
    counted[LeftOut.UNFINISHED] += len(kept)


def sharpness(picture: Image.Image) -> float:
    """Return the variance of the Laplacian of an image's brightness (0 to 255) at 256 pixels on the longest side.

    0 for a flat image, low for a blurred one (Pech-Pacheco et al. 2000).
    """
    scale = SHARPNESS_SIDE / max(picture.size)
    width, height = (max(3, round(side * scale)) for side in picture.size)
    grey = np.asarray(picture.convert("L").resize((width, height), Image.Resampling.BOX), np.float64)
    middle = grey[1:-1, 1:-1]
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    return float(np.var(around - 4 * middle))

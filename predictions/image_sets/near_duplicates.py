"""Find near duplicates: images whose vectors are closer than a threshold."""

from collections.abc import Iterable, Sequence

import numpy as np

from predictions.image_sets.embeddings import Vectors, distances

# Measured by colour and gradient. Of 304 real photos, eight were there twice under another name, saved again: 0.0004 to
# 0.0009 apart. The next of all 46,056 pairs, two views of one thing, was 0.046. A photo made four times smaller and
# saved as a JPEG of quality 75 is at most 0.018 from the original, one of half the size and quality 60 0.009. Without 2
# % at each edge the median is 0.019, so more than half of those are found; mirrored photos and crops are not found.
NEAR_BELOW = 0.02


def nearest_below(
    names: Sequence[str], vectors: Vectors, others: Iterable[tuple[Sequence[str], Vectors]], *, below: float, most: int
) -> dict[str, list[tuple[float, str]]]:
    """Return for each of `names` the others closer than `below`, with their distances, nearest first, at most `most`.

    Names without such neighbours are left out. vectors: shape (names, dimensions), of length 1. others: blocks of names
    and vectors; the same name is the same image and skipped. Memory: the distances from all of `vectors` to one block.
    """
    found: dict[str, list[tuple[float, str]]] = {}
    for other_names, other_vectors in others:
        apart = distances(vectors, other_vectors)
        for row in np.flatnonzero((apart < below).any(axis=1)).tolist():
            near = np.flatnonzero(apart[row] < below)
            nearest: list[int] = near[np.argsort(apart[row][near], kind="stable")[: most + 1]].tolist()
            name = names[row]
            here = [(float(apart[row, place]), other_names[place]) for place in nearest if other_names[place] != name]
            if here:
                found[name] = sorted([*found.get(name, []), *here])[:most]
    return found

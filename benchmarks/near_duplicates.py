"""Measure time and memory of comparing 10,000 new images with 10,000 others.

    python -m benchmarks.near_duplicates

Uses generated vectors of the length of colour-and-gradient vectors, so it reads no images and needs no database. It
measures `predictions.image_sets.near_duplicates` as the job calls it, in its blocks, and the embedding of images of the
size that the job reads. The ratio is embedding time divided by comparison time.
"""

import resource
from collections.abc import Iterator
from time import perf_counter

import numpy as np
from PIL import Image

from predictions.image_sets.embeddings import ColourAndGradient, Vectors
from predictions.image_sets.near_duplicates import NEAR_BELOW, nearest_below

PICTURES, NEAR, LOOKED_AT = 10_000, 100, 200
COMPARED_AT_ONCE, BLOCK = 2048, 4096


def main() -> None:
    draw = np.random.default_rng(1)
    new, others = (_normalise(draw.normal(size=(PICTURES, 704))) for _ in range(2))
    # Every hundredth new one is a slightly changed copy.
    changed = slice(0, PICTURES, PICTURES // NEAR)
    new[changed] = _normalise(others[changed] + draw.normal(scale=0.002, size=(NEAR, 704)))
    before = _megabytes()
    begun = perf_counter()
    found = 0
    for start in range(0, PICTURES, COMPARED_AT_ONCE):
        rows = new[start : start + COMPARED_AT_ONCE]
        names = [f"new-{place}" for place in range(start, start + len(rows))]
        found += len(nearest_below(names, rows, _blocks(others), below=NEAR_BELOW, most=64))
    comparing = perf_counter() - begun
    memory = _megabytes() - before
    embedding = ColourAndGradient()
    pictures = [Image.fromarray(draw.integers(0, 256, (300, 400, 3), dtype=np.uint8)) for _ in range(LOOKED_AT)]
    begun = perf_counter()
    embedding.embed(pictures)
    looking = (perf_counter() - begun) / LOOKED_AT * PICTURES
    assert found == NEAR, found
    print(f"{PICTURES:,} new images with {PICTURES:,} others: {comparing:.1f} s, {memory:.0f} MB more; {found} found")
    print(f"embedding {PICTURES:,} images of 400 x 300: {looking:.0f} s")
    print(f"ratio of embedding to comparing: {looking / comparing:.1f}")


def _normalise(vectors: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Vectors:
    lengths: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, dtype=np.float32)


def _blocks(vectors: Vectors) -> Iterator[tuple[list[str], Vectors]]:
    for start in range(0, len(vectors), BLOCK):
        rows = vectors[start : start + BLOCK]
        yield [f"other-{place}" for place in range(start, start + len(rows))], rows


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()

"""Measure time and memory of finding the nearest of 118,000 images for each of them (`nearest:`, as for NegCLIP).

    python -m benchmarks.nearest_images [QUERIES]

Uses generated vectors of CLIP ViT-B/32's length, 512, so it reads no images and needs no database. It measures
`making.makers.nearest.Others` as a stage of a pipeline calls it, in batches of 200, for all images or for the
first QUERIES, and compares the results of 200 with those of scikit-learn.
"""

import sys
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from sklearn.neighbors import NearestNeighbors

from making.makers.nearest import Others

IMAGES, LENGTH, BATCH, COUNT = 118_000, 512, 200, 3


def main() -> None:
    queries = int(sys.argv[1]) if len(sys.argv) > 1 else IMAGES
    draw = np.random.default_rng(1)
    vectors = draw.standard_normal((IMAGES, LENGTH), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    before = _peak_megabytes(reset=True)
    begun, worked = perf_counter(), process_time()
    others, found = Others(vectors), []
    for start in range(0, queries, BATCH):
        rows = range(start, min(start + BATCH, queries))
        found += others.nearest(vectors[rows.start : rows.stop], [[row] for row in rows], count=COUNT)
    seconds, processor = perf_counter() - begun, process_time() - worked
    memory = _peak_megabytes() - before
    ours = [[row for row, _ in each] for each in found[:BATCH]]
    theirs = NearestNeighbors(n_neighbors=COUNT + 1, algorithm="brute").fit(vectors).kneighbors(vectors[:BATCH])[1]
    assert ours == theirs[:, 1:].tolist()
    print(
        f"{queries:,} images with {IMAGES:,} of {LENGTH} numbers: {seconds:,.0f} s ({processor:,.0f} s of processors), "
        f"{queries / seconds:,.0f} images a second"
    )
    print(f"memory: {vectors.nbytes / 2**20:,.0f} MB of vectors, {memory:,.0f} MB more")


def _peak_megabytes(*, reset: bool = False) -> float:
    """Return the most memory used since the last reset; `reset` counts from what is used now. Linux alone."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()

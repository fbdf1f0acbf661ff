"""Measure the check of 100,000 training examples for leaks against 10,000 protected items, on one core.

    python -m benchmarks.leaks

Each example has two captions and an image, whose vector is at hand: no image is read. A hundred examples
leak, twenty of each kind. Images are also compared mirrored, levelled, with brighter ones, and with windows of as many
protected ones as a site compares; of those that may show a part, pixels are compared. The floor is comparing the images
alone as they are, each with each. Time is processor time.
"""

import os

# Before NumPy is imported: one core.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

from collections.abc import Mapping, Sequence
from random import Random
from time import process_time

import numpy as np
from PIL import Image

from predictions.image_sets.embeddings import GAINS, WINDOWS, ColourAndGradient, Vectors
from training.leaks import KINDS, Item, LeakCheck, Protected
from training.near_crops import NearCrops, Pixels

EXAMPLES, PROTECTED, OF_A_KIND, DRAWN = 100_000, 10_000, 20, 400
WORDS, LEAST, MOST = 3000, 8, 14
CROPPED = 3_000
COMPARED = 2048


def main() -> None:
    dice, draw = Random(1), np.random.default_rng(1)
    words = ["".join(dice.choice("abcdefghilmnoprstu") for _ in range(dice.randint(2, 8))) for _ in range(WORDS)]
    # Few words are frequent, as in captions.
    weights = [1 / place for place in range(1, WORDS + 1)]

    def caption() -> str:
        return " ".join(dice.choices(words, weights, k=dice.randint(LEAST, MOST)))

    held = [Item(f"held {n}", [caption()], [f"held {n}"], [f"held:{n}"]) for n in range(PROTECTED)]
    held_vectors = _vectors(draw, PROTECTED)
    pool = _vectors(draw, EXAMPLES // 5)
    examples = [
        Item(f"example {n}", [caption(), caption()], [f"example {n}"], [f"example:{n}"]) for n in range(EXAMPLES)
    ]
    for n in range(OF_A_KIND):
        one, text = held[n], held[n].captions[0]
        examples[1000 * n + 100] = Item("same image", images=one.images)
        examples[1000 * n + 200] = Item("near image", images=[f"copy {n}"])
        examples[1000 * n + 300] = Item("same caption", [text.upper()])
        examples[1000 * n + 400] = Item("near caption", [f"{text}s"])
        examples[1000 * n + 500] = Item("same source", sources=one.sources)

    def vectors_of(images: Sequence[str]) -> Mapping[str, Vectors]:
        numbers = {name: int(name.partition(" ")[2]) for name in images}
        return {
            name: held_vectors[n] if name.startswith("copy") else pool[n % len(pool)] for name, n in numbers.items()
        }

    noise = draw.integers(0, 256, (CROPPED, 64, 64, 3), dtype=np.uint8)

    def pixels_of(names: Sequence[str]) -> Mapping[str, Pixels]:
        return {name: noise[place % CROPPED] for place, name in enumerate(names)}

    brighter = _moved(draw, np.repeat(held_vectors[:CROPPED], len(GAINS), axis=0))
    layouts = ColourAndGradient().layout(held_vectors[:CROPPED])
    windows = _moved(draw, np.repeat(layouts, len(WINDOWS), axis=0)).reshape(CROPPED, len(WINDOWS), -1)
    begun = process_time()
    names = [one.images[0] for one in held]
    protected = Protected(
        held,
        images=names,
        vectors=held_vectors,
        brightened=[name for name in names[:CROPPED] for _ in GAINS],
        brighter=brighter,
        crops=NearCrops(names[:CROPPED], windows, noise),
        alterations=ColourAndGradient(),
    )
    check = LeakCheck(protected, vectors_of=vectors_of, pixels_of=pixels_of)
    for _ in check.without_leaks(examples, lambda item: item):
        pass
    report = check.report()
    checking = process_time() - begun
    begun = process_time()
    (1 - pool[:COMPARED] @ held_vectors.T < 0.02).any()
    floor = (process_time() - begun) / COMPARED * EXAMPLES
    counts = {kind: report.counts[kind] for kind in KINDS}
    print(f"{EXAMPLES:,} examples against {PROTECTED:,} protected items: {checking:.0f} s; {counts}")
    print(f"comparing the images alone, each with each: {floor:.0f} s")
    print(f"ratio: {checking / floor:.2f}")


def _moved(draw: np.random.Generator, vectors: Vectors) -> Vectors:
    """Return vectors a little away from others, in half precision."""
    moved = vectors + draw.normal(0, 0.01, vectors.shape)
    return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), np.float16)


def _vectors(draw: np.random.Generator, count: int) -> Vectors:
    """Return vectors of length 1: mixtures of those of drawn pictures."""
    grids = draw.integers(0, 256, (DRAWN, 6, 8, 3), dtype=np.uint8)
    pictures = [Image.fromarray(grid).resize((64, 64), Image.Resampling.BICUBIC) for grid in grids]
    drawn = ColourAndGradient().embed(pictures)
    first, second = draw.integers(0, DRAWN, (2, count))
    rows = drawn[first] + np.float32(0.6) * drawn[second]
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


if __name__ == "__main__":
    main()

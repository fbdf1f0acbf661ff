"""Histograms of counted values, in bins whose edges are round numbers."""

from collections.abc import Iterator, Mapping
from itertools import accumulate

from results.reports.base import Point, Series

MOST_BINS = 20
# The last bin has all values above this share of them, so that a few long ones do not squeeze the others.
SHOWN_APART = 0.95


def histogram(counts: Mapping[str, Mapping[float, int]], *, unit: str = "", are_whole: bool = False) -> list[Series]:
    """Return how many values lie in each bin, a series for each name; none without values.

    counts: name -> value, at least 0 -> how often it occurs. unit: of the values, for labels. are_whole: whether values
    are whole numbers.

    Example: 0.5, 3.2 and 3.9 are 1 from 0 to 1, 0 from 1 to 2 and from 2 to 3, and 2 from 3 to 4.
    """
    together: dict[float, int] = {}
    for of_name in counts.values():
        for value, times in of_name.items():
            together[value] = together.get(value, 0) + times
    if not together:
        return []
    ordered = sorted(together)
    *_, total = sums = list(accumulate(together[value] for value in ordered))
    most = next(value for value, n in zip(ordered, sums, strict=True) if n >= SHOWN_APART * total)
    width = next(width for width in _widths() if most < MOST_BINS * width)
    bins = int(most // width) + 1
    ends = [(number * width, (number + 1) * width - are_whole) for number in range(bins)]
    labels = [f"{low:,}" if low == high else f"{low:,} to {high:,}" for low, high in ends]
    if ordered[-1] >= bins * width:
        labels.append(f"{bins * width:,} or more")
    labels = [f"{label} {unit}".rstrip() for label in labels]
    return [Series(name, list(_points(of_name, width, labels))) for name, of_name in counts.items() if of_name]


def _widths() -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50 and so on."""
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def _points(counts: Mapping[float, int], width: int, labels: list[str]) -> Iterator[Point]:
    found = [0] * len(labels)
    for value, times in counts.items():
        found[min(int(value // width), len(labels) - 1)] += times
    for number, label in enumerate(labels):
        yield Point(label, found[number], x=number * width, x_end=(number + 1) * width)

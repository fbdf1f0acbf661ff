"""Use of an ordered scale, overall and by annotator. Ratings are whole steps of a scale."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True)
class Distribution:
    """Counts, mean and spread of ratings.

    n: how many. counts: per step of the scale, in its order. mean, sd: in steps, numbered from 1 (`steps`) or as
    `values` say; None without a rating, and sd (the sample's, n - 1) with fewer than two.
    """

    n: int
    counts: Sequence[int]
    mean: float | None
    sd: float | None


def distribution(
    ratings: Iterable[str], steps: Sequence[str], values: Mapping[str, float] | None = None
) -> Distribution:
    """Count ratings over the steps of a scale.

    ratings: steps, any number including 0. steps: all there are, lowest first. values: step -> number; without it the
    steps are 1, 2, ... in their order. Raises ValueError for a rating that is no step.

    Example: ["2", "4", "4"] of "1".."5" has counts (0, 1, 0, 2, 0), mean 10/3 and sd sqrt(4/3).
    """
    given = Counter(ratings)
    unknown = set(given) - set(steps)
    if unknown:
        raise ValueError(f"The rating {min(unknown)!r} is not a step of the scale.")
    number = number_of(steps, values)
    counts = [given[step] for step in steps]
    n = sum(counts)
    if not n:
        return Distribution(0, counts, None, None)
    mean = sum(number[step] * given[step] for step in steps) / n
    squares = sum(given[step] * (number[step] - mean) ** 2 for step in steps)
    return Distribution(n, counts, mean, sqrt(squares / (n - 1)) if n > 1 else None)


def number_of(steps: Sequence[str], values: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return the number that each step stands for: those of `values`, or 1, 2, ... in the order of the scale."""
    return {step: float(values[step]) if values else float(rank) for rank, step in enumerate(steps, start=1)}


@dataclass(frozen=True)
class Use:
    """One annotator's use of a scale.

    n: their ratings. mean, sd: as in `Distribution`. used: number of different steps used. most: share of the most
    frequent step, 0 to 1. shared: number of their units that somebody else rated too. lean: their rating minus the mean
    of the others' on the same unit, averaged over shared units, in steps; positive if higher than others, None without
    shared units.
    """

    n: int
    mean: float
    sd: float | None
    used: int
    most: float
    shared: int
    lean: float | None


def use_of_scale(
    ratings: Iterable[tuple[Hashable, str, str]], steps: Sequence[str], values: Mapping[str, float] | None = None
) -> dict[str, Use]:
    """Return annotator -> their use of the scale.

    ratings: (unit, annotator, step), each annotator once per unit. steps, values: as for `distribution`.
    Raises ValueError for a rating that is no step.

    Example: Ann rates two units 5 and 4, Ben the same 3 and 4: Ann leans (2 + 0) / 2 = 1, Ben -1.
    """
    number = number_of(steps, values)
    by_annotator: dict[str, list[tuple[Hashable, str]]] = {}
    by_unit: dict[Hashable, list[float]] = {}
    for unit, annotator, step in ratings:
        if step not in number:
            raise ValueError(f"The rating {step!r} is not a step of the scale.")
        by_annotator.setdefault(annotator, []).append((unit, step))
        by_unit.setdefault(unit, []).append(number[step])
    found = {}
    for annotator, mine in by_annotator.items():
        together = distribution((step for _, step in mine), steps, values)
        leans = [
            number[step] - (sum(by_unit[unit]) - number[step]) / (len(by_unit[unit]) - 1)
            for unit, step in mine
            if len(by_unit[unit]) > 1
        ]
        found[annotator] = Use(
            n=together.n,
            mean=together.mean or 0.0,
            sd=together.sd,
            used=sum(count > 0 for count in together.counts),
            most=max(together.counts) / together.n,
            shared=len(leans),
            lean=sum(leans) / len(leans) if leans else None,
        )
    return found

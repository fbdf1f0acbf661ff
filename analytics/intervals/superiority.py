"""How far one group of numbers lies above another, by ranks, with an interval for other people."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analytics.intervals.bootstrap import LEVEL, RESAMPLES, Interval, interval_over_people
from analytics.ratings import Counts, Floats

EMPTY = "One of the two groups is empty."


@dataclass(frozen=True)
class Superiority:
    """value: from 0 to 1, None exactly when `reason` says why. n_people: in both groups together."""

    value: float | None
    interval: Interval
    n_people: int
    reason: str | None = None


def superiority(
    values: ArrayLike,
    is_first: Sequence[bool],
    people: Sequence[Hashable],
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Superiority:
    """Return the probability that a random number of the first group is larger than one of the second.

    Ties count half, so 0.5 means no difference. It equals the area under the ROC curve, and the Mann-Whitney statistic
    divided by the number of pairs. values, is_first, people: for each number its group and whose it is, of the same
    length. The interval resamples people with all their numbers (percentile bootstrap).

    Sources: McGraw and Wong 1992, "A common language effect size statistic", Psychological Bulletin 111; Vargha and
    Delaney 2000, Journal of Educational and Behavioral Statistics 25 (ties); Field and Welsh 2007, "Bootstrapping
    clustered data", JRSS B 69.

    Example: of the groups 3, 5 and 2, 3 it is (1 + 0.5 + 1 + 1) / 4 = 0.875.
    """
    numbers, first = np.asarray(values, dtype=np.float64), np.asarray(is_first, dtype=bool)
    names = list(dict.fromkeys(people))
    places = {name: place for place, name in enumerate(names)}
    person = np.asarray([places[each] for each in people], dtype=np.int64)
    n = len(names)
    if first.all() or not first.any():
        return Superiority(None, Interval(None, None, EMPTY, n), n, EMPTY)
    wins = _wins(numbers, first, person, n)
    of_first = np.bincount(person[first], minlength=n).astype(np.float64)
    of_second = np.bincount(person[~first], minlength=n).astype(np.float64)

    def statistic(draws: Floats) -> Floats:
        pairs = (draws @ of_first) * (draws @ of_second)
        won = ((draws @ wins) * draws).sum(axis=1)
        shares: Floats = np.divide(won, pairs, out=np.full(len(draws), np.nan), where=pairs > 0)
        return shares

    value = float(statistic(np.ones((1, n)))[0])
    interval = interval_over_people(statistic, n, rng=rng, resamples=resamples, level=level)
    return Superiority(value, interval, n)


def _wins(numbers: Floats, first: NDArray[np.bool_], person: Counts, n: int) -> Floats:
    """Return people x people: how many pairs the first numbers of one win against the second numbers of another."""
    wins = np.zeros((n, n), dtype=np.float64)
    winners = numbers[first]
    for other in np.unique(person[~first]):
        theirs = np.sort(numbers[~first & (person == other)])
        below = np.searchsorted(theirs, winners, side="left")
        at_most = np.searchsorted(theirs, winners, side="right")
        wins[:, other] = np.bincount(person[first], weights=(below + at_most) / 2, minlength=n)
    return wins

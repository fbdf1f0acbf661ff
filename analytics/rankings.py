"""Agreement of people who rank the same items, with ties.

`ranks`: one row per person, one column per item; a lower number ranks before a higher one and equal numbers tie, so
that 1, 1, 3 and 1, 1, 2 say the same. All functions raise ValueError for another shape, and for what is no number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from analytics.ratings import Floats

ONE_RANKING = "There is only one ranking, so there is nothing to compare."
ONE_ITEM = "There is only one item, so there is no order."
ALL_TIED = "Everything is tied, so nothing is ranked."


@dataclass(frozen=True)
class RankAgreement:
    """Agreement on the order of `n_items` by `n_rankings`. `value` is None exactly when `reason` says why."""

    value: float | None
    reason: str | None
    n_rankings: int
    n_items: int


def kendall_w(ranks: ArrayLike) -> RankAgreement:
    """Return Kendall's coefficient of concordance W, corrected for ties: 1 for the same order, 0 for no agreement.

    Undefined for less than two rankings or items, and where everybody ties everything.

    W = 12 S / (m^2 (n^3 - n) - m T), with S the sum of squared deviations of the items' rank sums from their mean, of m
    rankings of n items with average ranks for ties, and T the sum of t^3 - t over all groups of t tied items.
    Source: Kendall and Smith 1939, "The problem of m rankings", Annals of Mathematical Statistics 10; ties as in Siegel
    1956, "Nonparametric statistics for the behavioral sciences", pp. 229-238.

    Example: [[1, 2, 3], [1, 3, 2]] has rank sums 2, 5, 5: S = 6 and W = 72 / 96 = 0.75.
    """
    rows = _rankings(ranks)
    people, items = rows.shape
    if reason := _too_few(people, items):
        return RankAgreement(None, reason, people, items)
    sums = np.sum([_average_ranks(row) for row in rows], axis=0)
    deviations = float(((sums - sums.mean()) ** 2).sum())
    tied = sum(int((counts**3 - counts).sum()) for row in rows for counts in [np.unique(row, return_counts=True)[1]])
    most = people**2 * (items**3 - items) - people * tied
    if most <= 0:
        return RankAgreement(None, ALL_TIED, people, items)
    return RankAgreement(12 * deviations / most, None, people, items)


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> RankAgreement:
    """Return Kendall's tau-b of two rankings of the same items, from -1 for the reverse order to 1 for the same.

    Undefined for less than two items, and where one of the two ties everything. Of all pairs of items it takes those in
    the same order minus those in the other, over the root of the product of how many pairs each of the two ranks.
    Source: Kendall 1945, "The treatment of ties in ranking problems", Biometrika 33, p. 241.

    Example: [1, 2, 3] and [1, 3, 2] have two pairs alike and one not: 1 / 3.
    """
    rows = _rankings([first, second])
    items = rows.shape[1]
    if reason := _too_few(2, items):
        return RankAgreement(None, reason, 2, items)
    left, right = (np.sign(row[:, None] - row[None, :]) for row in rows)
    ranked = float((left**2).sum()) * float((right**2).sum())
    if not ranked:
        return RankAgreement(None, ALL_TIED, 2, items)
    return RankAgreement(float((left * right).sum()) / sqrt(ranked), None, 2, items)


def mean_kendall_tau(ranks: ArrayLike) -> RankAgreement:
    """Return the mean of tau-b over all pairs of rankings that have one.

    Undefined as `kendall_w`. Source: Hays 1960, "A note on average tau as a measure of concordance", Journal of the
    American Statistical Association 55.

    Example: [1, 2, 3], [1, 2, 3] and [1, 3, 2]: (1 + 1/3 + 1/3) / 3 = 5/9.
    """
    rows = _rankings(ranks)
    people, items = rows.shape
    if reason := _too_few(people, items):
        return RankAgreement(None, reason, people, items)
    pairs = [kendall_tau(first, second).value for first, second in combinations(rows.tolist(), 2)]
    known = [tau for tau in pairs if tau is not None]
    if not known:
        return RankAgreement(None, ALL_TIED, people, items)
    return RankAgreement(sum(known) / len(known), None, people, items)


def _rankings(ranks: ArrayLike) -> Floats:
    rows = np.asarray(ranks, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"Rankings have the shape people x items, not {rows.shape}.")
    if np.isnan(rows).any():
        raise ValueError("A ranking must place every item. One place is nan.")
    return rows


def _too_few(people: int, items: int) -> str:
    return ONE_RANKING if people < 2 else ONE_ITEM if items < 2 else ""


def _average_ranks(row: Floats) -> Floats:
    """Return the rank of each item from 1; tied items share the mean of their ranks."""
    before = (row[:, None] > row[None, :]).sum(axis=1)
    ties = (row[:, None] == row[None, :]).sum(axis=1)
    return np.asarray(before + (ties + 1) / 2)

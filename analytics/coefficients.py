"""Formulas of the agreement coefficients, for many weightings of the units at once.

`analytics.agreement` offers them by name with one weighting, the sample itself; `analytics.intervals.bootstrap` gives a
thousand. So an interval and its estimate come from the same formula. A value that is undefined under a weighting is nan
in this module, and is never returned as nan.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from analytics.ratings import (
    MISSING,
    CodedRatings,
    Codes,
    Floats,
    Rows,
    by_rater,
    distinct_units,
    distinct_units_by_rater,
)

# Weightings x rows to one value per weighting.
Statistic = Callable[[Floats], Floats]
Weights = Literal["linear", "quadratic"]
Metric = Literal["nominal", "ordinal", "interval", "ratio"]

# Rows x categories up to this size are one matrix (160 MB); beyond, categories are counted row by row.
DENSE = 20_000_000
# Below this share of its terms, a sum of squares is zero up to rounding.
ROUNDING = 1e-12


class Measure(ABC):
    """A coefficient: how it merges units, and its value under weightings of the merged rows."""

    # Whether it is defined for exactly two raters, one per column.
    for_two_raters: ClassVar[bool] = False

    def rows(self, coded: CodedRatings) -> Rows:
        """Return the distinct units it works on: for two raters, those that both rated."""
        if not self.for_two_raters:
            return distinct_units(coded)
        apart = by_rater(coded)
        both = replace(apart, codes=apart.codes[(apart.codes != MISSING).all(axis=1)])
        return distinct_units_by_rater(both)[0]

    @abstractmethod
    def statistic(self, coded: CodedRatings, rows: Rows, copies: Floats | None = None) -> Statistic:
        """Return its value as a function of weightings of `rows`.

        copies: rows x width, how often each rating's annotator was drawn; by default once. Copies of one rating are
        never compared with each other. Raises ValueError if the labels lack the order or the numbers that it needs.
        """


@dataclass(frozen=True)
class PercentAgreement(Measure):
    def statistic(self, coded: CodedRatings, rows: Rows, copies: Floats | None = None) -> Statistic:
        return _observed_agreement(_Pairs(coded, rows, copies))


@dataclass(frozen=True)
class BrennanPrediger(Measure):
    def statistic(self, coded: CodedRatings, rows: Rows, copies: Floats | None = None) -> Statistic:
        observed = _observed_agreement(_Pairs(coded, rows, copies))
        by_chance = 1 / len(coded.categories)
        return lambda weights: _beyond_chance(observed(weights), np.full(len(weights), by_chance))


@dataclass(frozen=True)
class FleissKappa(Measure):
    def statistic(self, coded: CodedRatings, rows: Rows, copies: Floats | None = None) -> Statistic:
        pairs = _Pairs(coded, rows, copies)
        observed, prevalence = _observed_agreement(pairs), _prevalence(pairs)
        return lambda weights: _beyond_chance(observed(weights), (prevalence(weights) ** 2).sum(axis=1))


@dataclass(frozen=True)
class GwetAC1(Measure):
    def statistic(self, coded: CodedRatings, rows: Rows, copies: Floats | None = None) -> Statistic:
        pairs = _Pairs(coded, rows, copies)
        observed, prevalence = _observed_agreement(pairs), _prevalence(pairs)
        others = len(coded.categories) - 1

        def values(weights: Floats) -> Floats:
            shares = prevalence(weights)
            by_chance = (shares * (1 - shares)).sum(axis=1) / others if others else np.ones(len(weights))
            return _beyond_chance(observed(weights), by_chance)

        return values


@dataclass(frozen=True)
class KrippendorffAlpha(Measure):
    metric: Metric = "nominal"

    def statistic(self, coded: CodedRatings, rows: Rows, copies: Floats | None = None) -> Statistic:
        pairs = _Pairs(coded, rows, copies)
        if self.metric == "nominal":
            return _nominal_alpha(pairs)
        if self.metric == "ordinal":
            return _ordinal_alpha(pairs)
        if coded.values is None:
            raise ValueError(f"Alpha with the {self.metric} metric needs numbers, and these ratings are labels.")
        if self.metric == "interval":
            return _interval_alpha(pairs, coded.values)
        if self.metric == "ratio":
            return _ratio_alpha(pairs, coded.values)
        raise ValueError(f"The metric {self.metric!r} is unknown. Use nominal, ordinal, interval or ratio.")


@dataclass(frozen=True)
class CohenKappa(Measure):
    for_two_raters = True
    weights: Weights | None = None

    def statistic(self, coded: CodedRatings, rows: Rows, copies: Floats | None = None) -> Statistic:
        if self.weights not in (None, "linear", "quadratic"):
            raise ValueError(f"The weights {self.weights!r} are unknown. Use None, 'linear' or 'quadratic'.")
        if self.weights is not None and not coded.ordered:
            raise ValueError("Weighted kappa needs the order of these labels: declare them in order as categories.")
        first, second = (
            _category_totals(column[:, None], _mark_present(column[:, None]), coded) for column in rows.codes.T
        )
        apart = _distance(rows, self.weights)
        points = np.arange(len(coded.categories), dtype=np.float64)

        def values(weightings: Floats) -> Floats:
            left, right = first(weightings), second(weightings)
            units = left.sum(axis=1)
            if self.weights is None:
                by_chance = units**2 - (left * right).sum(axis=1)
            elif self.weights == "linear":
                below_left, below_right = left.cumsum(axis=1), right.cumsum(axis=1)
                by_chance = (below_left * (units[:, None] - below_right)).sum(axis=1)
                by_chance += (below_right * (units[:, None] - below_left)).sum(axis=1)
            else:
                by_chance = units * ((left + right) @ points**2) - 2 * (left @ points) * (right @ points)
            return 1 - _divide(units * (weightings @ apart), by_chance)

        return values


@dataclass(frozen=True)
class ScottPi(Measure):
    for_two_raters = True

    def statistic(self, coded: CodedRatings, rows: Rows, copies: Floats | None = None) -> Statistic:
        totals = _category_totals(rows.codes, _mark_present(rows.codes), coded)
        apart = _distance(rows, None)

        def values(weightings: Floats) -> Floats:
            labels = totals(weightings)
            given = labels.sum(axis=1)
            by_chance = given**2 - (labels**2).sum(axis=1)
            return 1 - _divide(2 * given * (weightings @ apart), by_chance)

        return values


class _Pairs:
    """Number of pairs of ratings of the same unit, and of equal pairs."""

    def __init__(self, coded: CodedRatings, rows: Rows, copies: Floats | None) -> None:
        self.coded = coded
        self.codes = rows.codes
        self.copies = _mark_present(rows.codes) if copies is None else copies
        self.ratings = self.copies.sum(axis=1)
        self.pairs = self.ratings**2 - (self.copies**2).sum(axis=1)
        self.pairable = (self.pairs > 0).astype(np.float64)
        # A unit counts as much as it has ratings (Krippendorff), spread over its pairs.
        self.per_pair = _divide(self.ratings, self.pairs, otherwise=0.0)

    def alike(self) -> Floats:
        """Return, per row, how many ordered pairs of ratings have the same label."""
        width, categories = self.codes.shape[1], len(self.coded.categories)
        if width * (width - 1) // 2 > categories and self.codes.shape[0] * categories <= DENSE:
            counts = _category_counts(self.codes, self.copies, self.coded)
            return np.asarray((counts**2).sum(axis=1) - (self.copies**2).sum(axis=1))
        same = np.zeros(len(self.codes))
        for left in range(width):
            for right in range(left + 1, width):
                equal = self.codes[:, left] == self.codes[:, right]
                same += 2 * equal * self.copies[:, left] * self.copies[:, right]
        return same

    def squares(self, points: Floats) -> Floats:
        """Return, per row, the sum over ordered pairs of the squared distance between the places of their labels."""
        at = points[self.codes]
        once, squared = (self.copies * at).sum(axis=1), (self.copies * at**2).sum(axis=1)
        return np.asarray(np.maximum(0, 2 * (self.ratings * squared - once**2)))


def _observed_agreement(pairs: _Pairs) -> Statistic:
    share = _divide(pairs.alike(), pairs.pairs, otherwise=0.0)
    return lambda weights: _divide(weights @ share, weights @ pairs.pairable)


def _prevalence(pairs: _Pairs) -> Statistic:
    """Share of each category, each unit with a rating counting once: weightings x categories."""
    share_of_unit = pairs.copies * _divide(np.ones(len(pairs.ratings)), pairs.ratings, otherwise=0.0)[:, None]
    totals = _category_totals(pairs.codes, share_of_unit, pairs.coded)
    rated = (pairs.ratings > 0).astype(np.float64)
    return lambda weights: totals(weights) / np.maximum(weights @ rated, 1)[:, None]


def _nominal_alpha(pairs: _Pairs) -> Statistic:
    apart = (pairs.pairs - pairs.alike()) * pairs.per_pair
    totals = _category_totals(pairs.codes, pairs.copies * pairs.pairable[:, None], pairs.coded)

    def values(weights: Floats) -> Floats:
        labels = totals(weights)
        given = labels.sum(axis=1)
        return _alpha(given, weights @ apart, given**2 - (labels**2).sum(axis=1))

    return values


def _interval_alpha(pairs: _Pairs, points: Floats) -> Statistic:
    # Distances are invariant to shifts; near 0 their squares lose no digits. A rating that is not compared with another
    # does not move the origin, however far away it is.
    compared = pairs.codes[(pairs.pairable[:, None] * pairs.copies) > 0]
    points = points - points[np.unique(compared)].mean() if compared.size else np.zeros(max(1, points.size))
    at = points[pairs.codes]
    counted = pairs.copies * pairs.pairable[:, None]
    sums = np.column_stack([(counted * at**power).sum(axis=1) for power in range(3)])
    apart = pairs.squares(points) * pairs.per_pair

    def values(weights: Floats) -> Floats:
        given, once, squared = (weights @ sums).T
        return _alpha(given, weights @ apart, _squares_by_chance(given, once, squared))

    return values


def _ordinal_alpha(pairs: _Pairs) -> Statistic:
    """Ordinal alpha is interval alpha of the mid-ranks, which depend on the weighting."""
    if not pairs.coded.ordered:
        raise ValueError("Ordinal alpha needs the order of these labels: declare them in order as categories.")
    totals = _category_totals(pairs.codes, pairs.copies * pairs.pairable[:, None], pairs.coded)

    def value(weights: Floats) -> float:
        labels = totals(weights[None, :])[0]
        given = labels.sum()
        ranks = labels.cumsum() - labels / 2 - given / 2
        apart = weights @ (pairs.squares(ranks) * pairs.per_pair)
        by_chance = _squares_by_chance(given, labels @ ranks, labels @ ranks**2)
        return float(_alpha(given, apart, by_chance))

    return lambda weights: np.array([value(row) for row in weights])


def _ratio_alpha(pairs: _Pairs, points: Floats) -> Statistic:
    if (points < 0).any():
        raise ValueError("Ratio alpha needs numbers of at least 0: it compares differences with sums.")
    apart = np.zeros(len(pairs.codes))
    for left in range(pairs.codes.shape[1]):
        for right in range(left):
            distance = _ratio(points[pairs.codes[:, left]], points[pairs.codes[:, right]])
            apart += 2 * distance * pairs.copies[:, left] * pairs.copies[:, right]
    apart *= pairs.per_pair
    totals = _category_totals(pairs.codes, pairs.copies * pairs.pairable[:, None], pairs.coded)

    def values(weights: Floats) -> Floats:
        labels = totals(weights)
        by_chance = np.zeros(len(weights))
        for point, column in zip(points, labels.T, strict=True):
            by_chance += column * (labels @ _ratio(point, points))
        return _alpha(labels.sum(axis=1), weights @ apart, by_chance)

    return values


def _ratio(left: Floats, right: Floats) -> Floats:
    return np.square(_divide(left - right, left + right, otherwise=0.0))


def _squares_by_chance(given: Floats, once: Floats, squared: Floats) -> Floats:
    total = 2 * (given * squared - once**2)
    return np.where(total > ROUNDING * given * squared, total, 0)


def _alpha(given: Floats, apart: Floats, apart_by_chance: Floats) -> Floats:
    """1 - Do / De from sums: `apart` over a unit's pairs, `apart_by_chance` over all ordered pairs of `given`."""
    return 1 - _divide((given - 1) * apart, apart_by_chance)


def _beyond_chance(observed: Floats, by_chance: Floats) -> Floats:
    room = 1 - by_chance
    return _divide(observed - by_chance, np.where(room > ROUNDING, room, 0))


def _divide(numerator: Floats, denominator: Floats, otherwise: float = np.nan) -> Floats:
    """Divide; `otherwise` where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    quotient = np.full(denominator.shape, otherwise, dtype=np.float64)
    np.divide(numerator, denominator, out=quotient, where=denominator != 0)
    return quotient


def _mark_present(codes: Codes) -> Floats:
    return np.asarray(codes != MISSING, dtype=np.float64)


def _category_counts(codes: Codes, amounts: Floats, coded: CodedRatings) -> Floats:
    """Rows x categories: the sum of `amounts` (rows x width, 0 where missing) by label."""
    categories = len(coded.categories)
    cells = np.arange(len(codes))[:, None] * categories + codes
    cells[codes == MISSING] = 0
    flat = np.bincount(cells.ravel(), weights=amounts.ravel(), minlength=len(codes) * categories)
    return flat.astype(np.float64, copy=False).reshape(len(codes), categories)


def _category_totals(codes: Codes, amounts: Floats, coded: CodedRatings) -> Statistic:
    """Weightings x categories: as `_category_counts`, summed over weighted rows."""
    categories = len(coded.categories)
    if len(codes) * categories <= DENSE:
        counts = _category_counts(codes, amounts, coded)
        return lambda weights: np.asarray(weights @ counts)
    cells = np.where(codes == MISSING, 0, codes).ravel()
    return lambda weights: np.stack(
        [np.bincount(cells, weights=(row[:, None] * amounts).ravel(), minlength=categories) for row in weights]
    )


def _distance(rows: Rows, weights: Weights | None) -> Floats:
    steps = np.abs(rows.codes[:, 0] - rows.codes[:, 1]).astype(np.float64)
    if weights is None:
        steps = np.minimum(steps, 1)
    return np.asarray(steps**2 if weights == "quadratic" else steps)

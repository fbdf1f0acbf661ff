"""Bootstrap intervals: of agreement and of means, over units and over annotators.

All are percentile intervals (Efron and Tibshirani 1993, "An introduction to the bootstrap", chapter 13): the middle
`level` of the values that resamples take. They are not corrected for bias.

Equal units are drawn together. How often each kind of unit comes up in a resample of n units is multinomial, which is
what drawing n units one by one amounts to; all values of a coefficient then come out of one matrix product. The cost
depends on how many kinds of units there are, not on how many units. (Where nearly all units differ, as with continuous
values, they are drawn one by one.)

`rng` is a seeded `numpy.random.Generator`: the same seed gives the same interval. Every function raises ValueError
for a level outside 0 to 1 and for less than one resample.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analytics.agreement import estimate_coded
from analytics.coefficients import Measure, Statistic
from analytics.ratings import MISSING, Categories, Coded, Counts, Floats, Ratings, code, distinct_units_by_rater

RESAMPLES = 1000
LEVEL = 0.95
# Draws held in memory at once, times 8 bytes.
DRAWN_AT_ONCE = 4_000_000
# With fewer units per row than this, drawing units one by one is faster than drawing how often each row comes up.
FEW_UNITS_PER_ROW = 8
# When more resamples than this share are undefined, the percentiles of the others would mislead.
UNDEFINED_ALLOWED = 0.05

Over = Literal["units", "annotators"]


@dataclass(frozen=True)
class Interval:
    """Percentile interval from `low` to `high`, both None exactly when `reason` says why.

    over: what was resampled; n: how many of them. n_undefined: resamples without a value, which are left out (at most
    one in twenty). method: "percentile", always.
    """

    low: float | None
    high: float | None
    reason: str | None
    over: Over
    n: int
    n_undefined: int
    resamples: int
    level: float
    method: str = "percentile"


def agreement_over_units(
    measure: Measure,
    ratings: Ratings | Coded,
    *,
    rng: np.random.Generator,
    categories: Categories | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of a coefficient when units are drawn anew and annotators stay the same.

    measure: one of `analytics.coefficients`, `KrippendorffAlpha("ordinal")` say. ratings, categories and their errors:
    as in `analytics.agreement`. Drawn are units with at least one rating (two raters: those rated by both). Undefined
    where the coefficient is, and for a single unit. Categories stay those of the whole sample.

    Example: `agreement_over_units(CohenKappa(), ratings, rng=np.random.default_rng(7))`.
    """
    settings = _Settings("units", resamples, level)
    coded = code(ratings, categories)
    coefficient = estimate_coded(measure, coded)
    if coefficient.reason is not None:
        return settings.undefined(coefficient.reason, coefficient.n_units)
    rows = measure.rows(coded)
    return _over_units(measure.statistic(coded, rows), rows.counts, settings, rng)


def agreement_over_annotators(
    measure: Measure,
    ratings: Ratings | Coded,
    *,
    rng: np.random.Generator,
    categories: Categories | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of a coefficient when annotators are drawn anew and units stay the same.

    An annotator who is drawn twice counts twice against the others, but is never compared with their own copy, which
    would agree with itself perfectly. Units that are left with one annotator drop out. With few annotators, or few
    per unit, many resamples have nobody to compare, and the interval is undefined.
    Parameters as for `agreement_over_units`; raises ValueError for coefficients of two raters.
    """
    settings = _Settings("annotators", resamples, level)
    if measure.for_two_raters:
        raise ValueError("A coefficient of two raters has no annotators to draw anew; resample its units.")
    coded = _with_active_raters(code(ratings, categories))
    coefficient = estimate_coded(measure, coded)
    if coefficient.reason is not None:
        return settings.undefined(coefficient.reason, coefficient.n_raters)
    rows, raters = distinct_units_by_rater(coded)
    present, once = rows.codes != MISSING, rows.counts[None, :].astype(np.float64)
    values = np.empty(resamples)
    for number, draw in enumerate(_uniform_draws(coefficient.n_raters, resamples, rng)):
        values[number] = measure.statistic(coded, rows, present * draw[raters])(once)[0]
    return settings.interval(values, coefficient.n_raters)


def mean_over_units(
    outcomes: ArrayLike, *, rng: np.random.Generator, resamples: int = RESAMPLES, level: float = LEVEL
) -> Interval:
    """Return the interval of the mean of one number or truth value per question, when questions are drawn anew.

    outcomes: one-dimensional. Undefined for less than two questions. Raises ValueError for another shape and nan.

    Example: 90 right and 10 wrong answers give about 0.84 to 0.95.
    """
    settings = _Settings("units", resamples, level)
    values, counts = np.unique(_numbers(outcomes), return_counts=True)
    total = int(counts.sum())
    if not total:
        return settings.undefined("There is nothing to average.", 0)
    return _over_units(lambda draws: draws @ (values / total), counts, settings, rng)


def mean_over_annotators(
    outcomes: ArrayLike,
    annotators: Sequence[Any] | NDArray[Any],
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of the mean over all answers, when annotators are drawn anew with all their answers.

    outcomes: one number or truth value per answer; annotators: who gave it. Answers of one person are not
    independent, so this is the interval for "other people"; it is usually wider than `mean_over_units`.
    Undefined for less than two annotators. Raises ValueError for another shape, nan, and two different lengths.
    """
    settings = _Settings("annotators", resamples, level)
    values = _numbers(outcomes)
    people, places = np.unique(np.asarray(annotators), return_inverse=True)
    if len(places) != len(values):
        raise ValueError(f"There are {len(values)} outcomes of {len(places)} annotators; each answer has one.")
    if len(people) < 2:
        return settings.undefined(f"Drawing annotators anew takes two, and there are {len(people)}.", len(people))
    sums, counts = np.bincount(places, weights=values), np.bincount(places)
    means = np.array([draw @ sums / (draw @ counts) for draw in _uniform_draws(len(people), resamples, rng)])
    return settings.interval(means, len(people))


@dataclass(frozen=True)
class _Settings:
    over: Over
    resamples: int
    level: float

    def __post_init__(self) -> None:
        if not 0 < self.level < 1 or self.resamples < 1:
            raise ValueError(f"Not {self.resamples} resamples at level {self.level}: at least 1, and between 0 and 1.")

    def undefined(self, reason: str, n: int, n_undefined: int = 0) -> Interval:
        return Interval(None, None, reason, self.over, n, n_undefined, self.resamples, self.level)

    def interval(self, values: Floats, n: int) -> Interval:
        missing = int(np.isnan(values).sum())
        if missing > UNDEFINED_ALLOWED * self.resamples:
            return self.undefined(f"{missing} of {self.resamples} resamples leave it undefined.", n, missing)
        tail = (1 - self.level) / 2
        low, high = np.nanquantile(values, [tail, 1 - tail])
        return Interval(float(low), float(high), None, self.over, n, missing, self.resamples, self.level)


def _over_units(statistic: Statistic, counts: Counts, settings: _Settings, rng: np.random.Generator) -> Interval:
    n = int(counts.sum())
    if n < 2:
        return settings.undefined("Drawing units anew takes two, and there is one.", n)
    batches = [statistic(draws) for draws in _unit_draws(counts, settings.resamples, rng)]
    return settings.interval(np.concatenate(batches), n)


def _unit_draws(counts: Counts, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield batches of resamples x rows: how often each row comes up when as many units as there are are drawn."""
    units, rows = int(counts.sum()), len(counts)
    one_by_one = rows * FEW_UNITS_PER_ROW > units
    row_of_unit = np.repeat(np.arange(rows), counts)
    batch = max(1, DRAWN_AT_ONCE // rows)
    for start in range(0, resamples, batch):
        size = min(batch, resamples - start)
        if one_by_one:
            drawn = [np.bincount(row_of_unit[rng.integers(units, size=units)], minlength=rows) for _ in range(size)]
            yield np.array(drawn, dtype=np.float64)
        else:
            yield rng.multinomial(units, counts / units, size=size).astype(np.float64)


def _uniform_draws(people: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    for _ in range(resamples):
        yield rng.multinomial(people, np.full(people, 1 / people)).astype(np.float64)


def _with_active_raters(coded: Coded) -> Coded:
    if coded.raters is not None:
        return coded
    return replace(coded, codes=coded.codes[:, (coded.codes != MISSING).any(axis=0)])


def _numbers(outcomes: ArrayLike) -> Floats:
    values = np.asarray(outcomes, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"Outcomes are one number per question, not an array of {values.ndim} dimensions.")
    if np.isnan(values).any():
        raise ValueError(f"Outcome {int(np.isnan(values).argmax())} (counted from 0) is not a number.")
    return values

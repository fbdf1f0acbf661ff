"""Intervals of agreement and of means: bootstrap over units, jackknife over annotators and units.

Percentile intervals (Efron and Tibshirani 1993, "An introduction to the bootstrap", chapter 13) are the middle `level`
of the values of the resamples. BCa intervals (chapter 14) use other percentiles of the same values, corrected for bias
and for a spread that changes with the value. With 25 questions that two people answer correctly 85 % of the time, they
cover AC1 94 times in 100 instead of 90. Neither helps with too little data: see `Interval.warning`. For shares of right
answers, which are often near 1, use `analytics.people` and `analytics.scores.wilson_interval`.

Equal units are drawn together: the number of times that each distinct unit appears in a resample of n units is
multinomial, which is equivalent to drawing n units one by one. One matrix product then gives all values of a
coefficient. The cost depends on the number of distinct units, not on the number of units. (Where nearly all units
differ, as with continuous values, they are drawn one by one.)

If several units are about one instance, and so are correlated, a jackknife over instances replaces the bootstrap
(`_over_clusters`): resampling units covers the truth only 71 to 90 times in 100 then, and resampling instances 88 to
93.

`rng` is a seeded `numpy.random.Generator`: the same seed gives the same interval. Every function raises ValueError
for a level outside 0 to 1 and for less than one resample.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from analytics.agreement import Coefficient, estimate_coded
from analytics.coefficients import Measure, PercentAgreement, Statistic
from analytics.intervals.jackknife import (
    MOST_ROWS,
    leave_clusters_out,
    leave_one_out,
    variance_over_raters,
    variance_over_units,
)
from analytics.ratings import MISSING, Categories, CodedRatings, Counts, Floats, Ratings, code
from analytics.scores import t_quantile

RESAMPLES = 1000
LEVEL = 0.95
# Draws held in memory at once, times 8 bytes.
DRAWN_AT_ONCE = 4_000_000
# With fewer units per row than this, drawing units one by one is faster than drawing how often each row comes up.
FEW_UNITS_PER_ROW = 8
# Units drawn per call when drawn one by one: many enough for cheap calls, few enough for the cache.
DRAWN_PER_CALL = 50_000
# BCa divides by a term that is 0 for a spread that grows without bound.
SMALLEST_DIVISOR = 1e-3
# If more than this share of resamples is undefined, percentiles of the others would mislead.
UNDEFINED_ALLOWED = 0.05

# With fewer units than this, or fewer ratings that differ from the commonest label, intervals are unreliable.
FEW_UNITS, FEW_OTHERS = 20, 10
# Limits closer than this differ only by rounding.
ROUNDING = 1e-12
ONE_INSTANCE = "All questions that can be compared are about one instance, so there is no interval for other instances."
NOTHING_LEFT = "Leaving out one annotator or question leaves nothing to compare."
ALL_ALIKE = "All resamples give the same value, so there is no interval."
# Fewer annotators than this say almost nothing about other annotators.
LEAST_RATERS = 5
UNRELIABLE = "too few for a reliable interval"
SMALL = f"Fewer than {FEW_UNITS} questions: {UNRELIABLE}."
FEW_PEOPLE = f"Fewer than {FEW_UNITS} people: {UNRELIABLE}."
RARE = f"Fewer than {FEW_OTHERS} answers differ from the commonest one: {UNRELIABLE}."

Method = Literal["percentile", "BCa", "jackknife"]


@dataclass(frozen=True)
class Interval:
    """Interval from `low` to `high`, both None exactly when `reason` says why.

    n: the number of units, clusters or annotators that were resampled or left out. method: how it was computed.
    warning: why it is unreliable, else "".
    """

    low: float | None
    high: float | None
    reason: str | None
    n: int
    method: Method = "percentile"
    warning: str = ""


def agreement_over_units(
    measure: Measure,
    ratings: Ratings | CodedRatings,
    *,
    rng: np.random.Generator,
    categories: Categories | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    method: Method = "percentile",
) -> Interval:
    """Return the interval of a coefficient with resampled units and the same annotators.

    measure: one of `analytics.coefficients`, `KrippendorffAlpha("ordinal")` say. ratings, categories and their errors:
    as in `analytics.agreement`. The resampled units have at least one rating (two raters: one from each). Undefined if
    the coefficient is, and for a single unit. Categories stay those of the whole sample.
    method: "BCa" is corrected for bias and acceleration (Efron 1987); where nearly all units differ, and where leaving
        one unit out leaves nothing to compare, it is the percentile interval all the same, and says so.

    Example: `agreement_over_units(CohenKappa(), ratings, rng=np.random.default_rng(7))`.
    """
    coded = code(ratings, categories)
    found = estimate_coded(measure, coded)
    return interval_of(found, measure, coded, rng=rng, resamples=resamples, level=level, method=method)


def interval_of(
    found: Coefficient,
    measure: Measure,
    coded: CodedRatings,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    method: Method = "percentile",
    clusters: Sequence[int] | None = None,
) -> Interval:
    """Return `agreement_over_units` of a coefficient that has already been computed.

    clusters: for each unit its instance. If several units are about one, the interval is for other instances: the
    jackknife of `_over_clusters` instead of `method`.
    """
    _refuse(resamples, level)
    if found.value is None:
        return Interval(None, None, found.reason, found.n_units)
    if (shared := _shared_clusters(clusters)) is not None:
        return _over_clusters(measure, coded, found, shared, level)
    rows = measure.rows(coded)
    statistic = measure.statistic(coded, rows)
    correction = _correction(statistic, rows.counts, found.value) if method == "BCa" else None
    interval = _over_units(statistic, rows.counts, resamples, level, rng, correction)
    return replace(interval, warning=warning_of(coded)) if interval.reason is None else interval


def warning_of(coded: CodedRatings) -> str:
    """Return why an interval of agreement of these ratings is unreliable, "" if it is not."""
    if int(((coded.codes != MISSING).sum(axis=1) > 1).sum()) < FEW_UNITS:
        return SMALL
    given = np.bincount(coded.codes[coded.codes != MISSING])
    return RARE if int(given.sum() - given.max(initial=0)) < FEW_OTHERS else ""


def agreement_over_both(
    measure: Measure,
    ratings: Ratings | CodedRatings,
    *,
    categories: Categories | None = None,
    level: float = LEVEL,
    clusters: Sequence[int] | None = None,
) -> Interval:
    """Return the interval of a coefficient for other annotators and units, with five annotators or more.

    Student's t with the sum of two jackknife variances, over annotators and over units. The sum counts the variance of
    single answers twice, so the interval is conservative; the limits stay within -1 and 1. With five annotators who
    differ much it covers alpha of 500 questions 90 to 92 times in 100, and with twenty 95 times, while resampling only
    questions covers it 20 to 55 times. It is deterministic. clusters: for each unit the instance that it is about;
    instances are then left out, with all their units. Parameters as for `agreement_over_units`; raises ValueError for
    coefficients of two raters. Source: Efron and Tibshirani 1993, chapter 11.
    """
    _refuse(1, level)
    if measure.for_two_raters:
        raise ValueError("A coefficient of two raters has no annotators to draw anew; resample its units.")
    coded = code(ratings, categories)
    if coded.raters is None:
        coded = replace(coded, codes=coded.codes[:, (coded.codes != MISSING).any(axis=0)])
    found = estimate_coded(measure, coded)
    undefined = Interval(None, None, found.reason, found.n_raters, "jackknife")
    if found.value is None:
        return undefined
    if found.n_raters < LEAST_RATERS:
        reason = f"Needs at least {LEAST_RATERS} annotators; there are {found.n_raters}."
        return replace(undefined, reason=reason)
    people, groups = variance_over_raters(measure, coded, found.n_raters)
    units = variance_over_units(measure, coded, _shared_clusters(clusters))
    if people is None or units is None:
        return replace(undefined, reason=NOTHING_LEFT)
    half = t_quantile(level, groups - 1) * sqrt(people + units)
    low, high = max(-1.0, found.value - half), min(1.0, found.value + half)
    return replace(undefined, low=low, high=high, warning=warning_of(coded))


def _shared_clusters(clusters: Sequence[int] | None) -> Counts | None:
    """Return the clusters if any of them has several units."""
    several = clusters is not None and len(set(clusters)) < len(clusters)
    return np.asarray(clusters, dtype=np.int64) if several else None


def _refuse(resamples: int, level: float) -> None:
    if not 0 < level < 1 or resamples < 1:
        raise ValueError(f"resamples must be at least 1, and level between 0 and 1. They are {resamples} and {level}.")


def _over_clusters(
    measure: Measure, coded: CodedRatings, found: Coefficient, clusters: Counts, level: float
) -> Interval:
    """Return the interval of a coefficient for other instances.

    Student's t on the jackknife's pseudo-values of log((value - lowest) / (1 - value)), leaving out one instance at a
    time.

    For two raters it is Fisher's z of the coefficient, for more of them the logarithm of a ratio of variances, whose
    jackknife holds with few clusters. lowest: 0 for percent agreement, -1 / (ratings per unit - 1) for all others.
    Source: Arvesen and Schmitz 1970, "Robust procedures for variance component problems using the jackknife",
    Biometrics 26, pp. 677-686; Fisher 1925, "Statistical methods for research workers", sections 38 and 40.
    """
    values = leave_clusters_out(measure, coded, clusters)
    n = values.size
    undefined = Interval(None, None, None, n, "jackknife")
    if n < 2 or found.value is None:
        return replace(undefined, reason=ONE_INSTANCE)
    if np.isnan(values).any():
        return replace(undefined, reason=NOTHING_LEFT)
    if values.max() - values.min() < ROUNDING:
        return replace(undefined, reason=ALL_ALIKE)
    low, high = _of_pseudo_values(found.value, values, _lowest(measure, found, coded), level)
    warning = warning_of(coded) or (SMALL if n < FEW_UNITS else "")
    return replace(undefined, low=min(low, found.value), high=max(high, found.value), warning=warning)


def _lowest(measure: Measure, found: Coefficient, coded: CodedRatings) -> float:
    """Return the minimum of a coefficient for units with about as many ratings as these."""
    if isinstance(measure, PercentAgreement):
        return 0.0
    if measure.for_two_raters or not found.n_pairable:
        return -1.0
    ratings = (coded.codes != MISSING).sum(axis=1)
    return -1 / (float(ratings[ratings > 1].mean()) - 1)


def _of_pseudo_values(value: float, without: Floats, lowest: float, level: float) -> tuple[float, float]:
    n = without.size
    far = t_quantile(level, n - 1)
    if min(value, float(without.min())) - lowest < ROUNDING:
        half = far * _error(without)
        return max(-1.0, value - half), min(1.0, value + half)
    middle = log((value - lowest) / (1 - value))
    if 1 - without.max() < ROUNDING:
        # Without one of the instances, the logarithm is undefined.
        half = far * _error(without) * (1 - lowest) / ((value - lowest) * (1 - value))
    else:
        logs = np.log((without - lowest) / (1 - without))
        middle, half = n * middle - (n - 1) * float(logs.mean()), far * _error(logs)
    return _back(middle - half, lowest), _back(middle + half, lowest)


def _error(without: Floats) -> float:
    """Return the jackknife's standard error (Efron and Tibshirani 1993, equation 11.5)."""
    n = without.size
    return sqrt((n - 1) / n * float(((without - without.mean()) ** 2).sum()))


def _back(place: float, lowest: float) -> float:
    """Return the value whose log((value - lowest) / (1 - value)) is `place`."""
    share = 1 / (1 + exp(-place)) if place > 0 else exp(place) / (1 + exp(place))
    return lowest + (1 - lowest) * share


def mean_over_units(
    outcomes: ArrayLike, *, rng: np.random.Generator, resamples: int = RESAMPLES, level: float = LEVEL
) -> Interval:
    """Return the interval of the mean of one number or truth value per question, with resampled questions.

    outcomes: one-dimensional. Undefined for less than two questions. Raises ValueError for another shape and nan.

    Example: 90 right and 10 wrong answers give about 0.84 to 0.95.
    """
    _refuse(resamples, level)
    numbers = np.asarray(outcomes, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"Outcomes are one number per question, not an array of {numbers.ndim} dimensions.")
    if np.isnan(numbers).any():
        raise ValueError(f"Outcome {int(np.isnan(numbers).argmax())} (counted from 0) is not a number.")
    if not numbers.size:
        return Interval(None, None, "There is nothing to average.", 0)
    values, counts = np.unique(numbers, return_counts=True)
    return _over_units(lambda draws: draws @ (values / numbers.size), counts, resamples, level, rng)


def interval_over_people(
    statistic: Statistic,
    people: int,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Return the percentile interval of a number, with resampled people and all that is theirs.

    statistic: from draws (resamples x people: how often each person is drawn) to the number of each resample, nan where
    it is undefined. Undefined for fewer than FEW_UNITS people.
    """
    _refuse(resamples, level)
    if people < FEW_UNITS:
        return Interval(None, None, FEW_PEOPLE, people)
    return _over_units(statistic, np.ones(people, dtype=np.int64), resamples, level, rng)


@dataclass(frozen=True)
class _Correction:
    """Inputs of BCa beside the resamples: the value of the sample, and its acceleration."""

    value: float
    acceleration: float

    def percentiles(self, values: Floats, tail: float) -> list[float]:
        """Return the two percentiles to take, as shares (Efron and Tibshirani 1993, equation 14.10)."""
        # Imported here: it takes longer than all other imports of a page.
        from scipy.special import ndtr, ndtri

        # A resample equal to the sample counts half as below it.
        below = ((values < self.value).mean() + (values <= self.value).mean()) / 2
        bias = ndtri(np.clip(below, 1 / (2 * values.size), 1 - 1 / (2 * values.size)))
        shifted = bias + ndtri([tail, 1 - tail])
        corrected: Floats = ndtr(bias + shifted / np.maximum(1 - self.acceleration * shifted, SMALLEST_DIVISOR))
        return [float(share) for share in corrected]


def _correction(statistic: Statistic, counts: Counts, value: float) -> _Correction | None:
    """Return the correction; None if it is too slow, or if leaving out a unit leaves nothing to compare."""
    if len(counts) > MOST_ROWS or counts.sum() < 2:
        return None
    without = leave_one_out(statistic, counts)
    if np.isnan(without).any():
        return None
    apart = np.average(without, weights=counts) - without
    squares = float(counts @ apart**2)
    return _Correction(value, float(counts @ apart**3) / (6 * squares**1.5) if squares else 0.0)


def _over_units(
    statistic: Statistic,
    counts: Counts,
    resamples: int,
    level: float,
    rng: np.random.Generator,
    correction: _Correction | None = None,
) -> Interval:
    n = int(counts.sum())
    if n < 2:
        return Interval(None, None, "A bootstrap needs at least two units; there is one.", n)
    values = np.concatenate([statistic(draws) for draws in _unit_draws(counts, resamples, rng)])
    missing = np.isnan(values)
    if missing.sum() > UNDEFINED_ALLOWED * resamples:
        return Interval(None, None, f"The value is undefined in {missing.sum()} of {resamples} resamples.", n)
    tail = (1 - level) / 2
    percentiles = [tail, 1 - tail] if correction is None else correction.percentiles(values[~missing], tail)
    low, high = np.nanquantile(values, percentiles).tolist()
    if high - low < ROUNDING:
        return Interval(None, None, ALL_ALIKE, n)
    return Interval(low, high, None, n, "percentile" if correction is None else "BCa")


def _unit_draws(counts: Counts, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield batches of resamples x rows: how often each row is drawn, with as many draws as units."""
    units, rows = int(counts.sum()), len(counts)
    one_by_one = rows * FEW_UNITS_PER_ROW > units
    row_of_unit = np.repeat(np.arange(rows), counts)
    batch = max(1, DRAWN_AT_ONCE // rows)
    for start in range(0, resamples, batch):
        size = min(batch, resamples - start)
        if one_by_one:
            yield _draw_resamples(row_of_unit, rows, size, rng)
        else:
            yield rng.multinomial(units, counts / units, size=size).astype(np.float64)


def _draw_resamples(row_of_unit: Counts, rows: int, size: int, rng: np.random.Generator) -> Floats:
    """Return `size` resamples x rows. The number drawn per call does not change the numbers."""
    units = len(row_of_unit)
    per_call = max(1, DRAWN_PER_CALL // units)
    drawn = np.empty((size, rows), dtype=np.float64)
    for start in range(0, size, per_call):
        here = min(per_call, size - start)
        # Each resample has its own bins.
        bins = row_of_unit[rng.integers(units, size=(here, units))]
        bins += rows * np.arange(here)[:, np.newaxis]
        drawn[start : start + here] = np.bincount(bins.ravel(), minlength=here * rows).reshape(here, rows)
    return drawn

"""Jackknife variance of an agreement coefficient over annotators, units or clusters; deterministic.

Source: Efron and Tibshirani 1993, "An introduction to the bootstrap", chapter 11.
"""

import numpy as np

from analytics.coefficients import Measure, Statistic
from analytics.ratings import MISSING, CodedRatings, Counts, Floats, distinct_units_by_rater, row_of_each_unit

# Leaving out one unit of each kind of row is one matrix of rows x rows; beyond this many units leave in groups.
MOST_ROWS = 2000
# More annotators than this are left out in groups.
MOST_GROUPS = 20
# Groups of units where they leave in groups.
UNIT_GROUPS = 200
# Weightings x rows up to this size are one matrix (64 MB).
MOST_WEIGHTS = 8_000_000


def leave_one_out(statistic: Statistic, counts: Counts) -> Floats:
    """Return the value without one unit of each row; nan where that leaves nothing to compare.

    counts: how many units each row stands for, at most `MOST_ROWS` rows.
    """
    return statistic(counts - np.eye(len(counts)))


def variance_over_units(measure: Measure, coded: CodedRatings, clusters: Counts | None = None) -> float | None:
    """Return the jackknife variance of a measure, leaving out one unit or one cluster of units at a time.

    clusters: the number of the cluster of each unit, shape (units,). Without clusters, and with more than `MOST_ROWS`
    distinct rows of ratings, `UNIT_GROUPS` groups of rows are left out instead. None if the measure is undefined
    without some of them.
    """
    if clusters is not None:
        return _variance(leave_clusters_out(measure, coded, clusters))
    rows = measure.rows(coded)
    statistic, counts = measure.statistic(coded, rows), rows.counts
    if len(counts) <= MOST_ROWS:
        return _variance(leave_one_out(statistic, counts), counts.astype(np.float64))
    # Nearly all units differ, so rows stand for them.
    weights = np.tile(counts.astype(np.float64), (UNIT_GROUPS, 1))
    for group in range(UNIT_GROUPS):
        weights[group, group::UNIT_GROUPS] = 0
    return _variance(statistic(weights))


def leave_clusters_out(measure: Measure, coded: CodedRatings, clusters: Counts) -> Floats:
    """Return the value without one cluster of units at a time; nan where that leaves nothing to compare.

    clusters: for each unit a number that the units of its cluster share. Clusters without a unit that the measure
    compares are left aside. Where there are many clusters they leave in `UNIT_GROUPS` groups, by turns.
    """
    rows = measure.rows(coded)
    row = row_of_each_unit(coded, rows, by_column=measure.for_two_raters)
    compared = row != MISSING
    names, cluster = np.unique(clusters[compared], return_inverse=True)
    groups = names.size
    if groups > MOST_ROWS or groups * len(rows.counts) > MOST_WEIGHTS:
        groups = min(groups, UNIT_GROUPS)
    cells = (cluster % max(groups, 1)) * len(rows.counts) + row[compared]
    without = np.bincount(cells, minlength=groups * len(rows.counts)).reshape(groups, -1)
    return measure.statistic(coded, rows)(rows.counts.astype(np.float64) - without)


def variance_over_raters(measure: Measure, coded: CodedRatings, raters: int) -> tuple[float | None, int]:
    """Return the jackknife variance over annotators, and from how many groups of them it is estimated.

    raters: how many gave ratings, at least 2. Up to `MOST_GROUPS` each is a group; beyond, every twentieth goes into
    the same one, in the order in which they stand. None where leaving a group out leaves nothing to compare.
    """
    rows, who = distinct_units_by_rater(coded)
    present, once = rows.codes != MISSING, rows.counts[None, :].astype(np.float64)
    groups = min(raters, MOST_GROUPS)
    values = np.empty(groups)
    for group in range(groups):
        kept = present & (who % groups != group)
        values[group] = measure.statistic(coded, rows, kept.astype(np.float64))(once)[0]
    return _variance(values), groups


def _variance(values: Floats, counts: Floats | None = None) -> float | None:
    """Return (n - 1) / n times the squares around the mean, each value standing for `counts` (by default 1) of `n`."""
    if np.isnan(values).any():
        return None
    counts = np.ones(values.size) if counts is None else counts
    n = counts.sum()
    apart = values - counts @ values / n
    return float((n - 1) / n * (counts @ apart**2))

"""Measure Krippendorff's alpha and its bootstrap, as ratios to alpha by its definition in the same run.

    python -m benchmarks.agreement [--resamples 1000] [--rounds 5]

Ratings are by 3 annotators in 10 categories, 10 % missing, as an array of numbers. The reference builds the coincidence
matrix from counts of every unit and category, as public implementations do. It resamples the naive way: an alpha per
resample (measured over a few, and extrapolated). Memory is what Python and NumPy allocate above the ratings. The goals
are those of docs/performance.md; times under load are the best of all rounds.
"""

import argparse
import os
import platform
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from analytics.agreement import krippendorff_alpha
from analytics.coefficients import CohenKappa, FleissKappa, KrippendorffAlpha, Measure
from analytics.intervals.bootstrap import agreement_over_units

SEED = 2024
CATEGORIES = 10
RATERS = 3
GOALS = {100_000: (0.05, 60), 1_000_000: (0.5, 400)}
ALPHAS_PER_BOOTSTRAP = 20
NAIVE_RESAMPLES = 5
MEASURES: dict[str, Measure] = {
    "alpha, nominal": KrippendorffAlpha("nominal"),
    "alpha, ordinal": KrippendorffAlpha("ordinal"),
    "alpha, interval": KrippendorffAlpha("interval"),
    "alpha, ratio": KrippendorffAlpha("ratio"),
    "Fleiss' kappa": FleissKappa(),
    "Cohen's kappa, two raters": CohenKappa(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resamples", type=int, default=1_000, help="How many resamples an interval takes.")
    parser.add_argument("--rounds", type=int, default=5, help="How often each is measured.")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores, {platform.machine()}")
    print(f"\n{'alpha':<22}{'seconds':>9}{'goal':>7}{'of reference':>14}{'MB':>7}{'goal':>6}{'of reference':>14}")
    for units, (seconds, megabytes) in GOALS.items():
        show_alpha(units, seconds, megabytes, options.rounds)
    print(f"\n{f'{options.resamples:,} resamples':<42}{'seconds':>9}{'alphas':>8}{'goal':>6}{'of reference':>14}")
    for name, measure in MEASURES.items():
        show_bootstrap(name, measure, 100_000, options.resamples, options.rounds)


def show_alpha(units: int, goal_seconds: float, goal_megabytes: float, rounds: int) -> None:
    ratings = draw_ratings(units)
    ours, theirs = krippendorff_alpha(ratings).value, reference_alpha(ratings)
    assert ours is not None
    assert abs(ours - theirs) < 1e-9, "The reference gives another value."
    seconds = best_time(lambda: krippendorff_alpha(ratings), rounds)
    reference_seconds = best_time(lambda: reference_alpha(ratings), rounds)
    megabytes, reference_megabytes = peak(lambda: krippendorff_alpha(ratings)), peak(lambda: reference_alpha(ratings))
    print(
        f"{f'{units:,} units':<22}{seconds:>9.4f}{goal_seconds:>7}{seconds / reference_seconds:>14.3f}"
        f"{megabytes:>7.0f}{goal_megabytes:>6}{megabytes / reference_megabytes:>14.3f}"
    )


def show_bootstrap(name: str, measure: Measure, units: int, resamples: int, rounds: int) -> None:
    ratings = draw_ratings(units)[:, : 2 if measure.for_two_raters else RATERS]
    whole = draw_ratings(units)
    alpha = best_time(lambda: krippendorff_alpha(whole), rounds)
    rng = np.random.default_rng(SEED)
    seconds = best_time(lambda: agreement_over_units(measure, ratings, rng=rng, resamples=resamples), rounds)
    naive = best_time(lambda: reference_alpha(whole[rng.integers(units, size=units)]), NAIVE_RESAMPLES) * resamples
    print(
        f"{f'{name}, {units:,} units':<42}{seconds:>9.3f}{seconds / alpha:>8.1f}{ALPHAS_PER_BOOTSTRAP:>6}"
        f"{seconds / naive:>14.5f}"
    )


def draw_ratings(units: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(SEED)
    truth = rng.integers(CATEGORIES, size=(units, 1))
    guesses = rng.integers(CATEGORIES, size=(units, RATERS))
    ratings = np.where(rng.random((units, RATERS)) < 0.7, truth, guesses).astype(np.float64)
    ratings[rng.random((units, RATERS)) < 0.1] = np.nan
    return ratings


def reference_alpha(ratings: NDArray[np.float64]) -> float:
    """Nominal alpha over a matrix of units x categories (Krippendorff 2011, section D)."""
    values = np.unique(ratings[~np.isnan(ratings)])
    counts = (ratings[:, :, None] == values[None, None, :]).sum(axis=1).astype(np.float64)
    given = counts.sum(axis=1)
    counts, given = counts[given > 1], given[given > 1]
    coincidences = (counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(values.size)) / (given - 1)[
        :, None, None
    ]
    matrix = coincidences.sum(axis=0)
    totals = matrix.sum(axis=0)
    n = totals.sum()
    observed = n - np.trace(matrix)
    expected = (n**2 - (totals**2).sum()) / (n - 1)
    return float(1 - observed / expected)


def best_time(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def peak(work: Callable[[], object]) -> float:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    main()

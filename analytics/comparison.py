"""Whether two answerers (models, or a model and people) differ on the very same questions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analytics.bootstrap import LEVEL, RESAMPLES, Interval, mean_over_units


@dataclass(frozen=True)
class McNemar:
    """Counts of questions by who was right, and the probability of counts at least as uneven were there no difference.

    p: exact and two-sided. chi_squared, p_chi_squared: the approximation for many questions, one degree of freedom,
    without continuity correction. The three are None exactly when `reason` says why.
    """

    n: int
    both: int
    only_first: int
    only_second: int
    neither: int
    p: float | None
    chi_squared: float | None
    p_chi_squared: float | None
    reason: str | None = None


@dataclass(frozen=True)
class Difference:
    """Mean of the first minus mean of the second over `n` questions, with its interval; None when `reason` says why."""

    value: float | None
    n: int
    interval: Interval
    reason: str | None = None


def mcnemar(first: ArrayLike, second: ArrayLike) -> McNemar:
    """Test whether two answerers are right equally often, from the questions that only one of them got right.

    first, second: truth values of the same length, the same question at the same place. Undefined when no question
    tells them apart. Raises ValueError for two different lengths.

    Source: McNemar 1947, "Note on the sampling error of the difference between correlated proportions", p. 155; the
    exact test is the sign test of the discordant pairs, twice the smaller tail, at most 1.

    Example: only the first right on 1 question and only the second on 9: p = 2 (1 + 10) / 1024 = 0.0215,
    chi-squared 6.4.
    """
    left, right = _paired(first, second, np.bool_)
    only_first, only_second = int((left & ~right).sum()), int((~left & right).sum())
    both, neither = int((left & right).sum()), int((~left & ~right).sum())
    apart = only_first + only_second
    counts = (left.size, both, only_first, only_second, neither)
    if not apart:
        return McNemar(*counts, None, None, None, "No question tells the two apart.")
    # Here, because loading it takes longer than everything else that a page of the site loads.
    from scipy.special import bdtr, chdtrc

    chi_squared = (only_first - only_second) ** 2 / apart
    exact = min(1.0, 2 * float(bdtr(min(only_first, only_second), apart, 0.5)))
    return McNemar(*counts, exact, chi_squared, float(chdtrc(1, chi_squared)))


def difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Difference:
    """Return how much better the first is than the second, with a paired bootstrap interval over questions.

    first, second: numbers or truth values of the same length, the same question at the same place; a question is drawn
    with both its outcomes. Raises ValueError for two different lengths, and as `analytics.bootstrap.mean_over_units`.

    Example: [1, 1, 0, 1] against [1, 0, 0, 0] is 0.5 better.
    """
    left, right = _paired(first, second, np.float64)
    interval = mean_over_units(left - right, rng=rng, resamples=resamples, level=level)
    if not left.size:
        return Difference(None, 0, interval, interval.reason)
    return Difference(float((left - right).mean()), left.size, interval)


def _paired(first: ArrayLike, second: ArrayLike, dtype: type) -> tuple[NDArray[Any], NDArray[Any]]:
    left: NDArray[Any] = np.asarray(first, dtype=dtype)
    right: NDArray[Any] = np.asarray(second, dtype=dtype)
    if left.ndim != 1 or left.shape != right.shape:
        raise ValueError(f"A comparison takes two lists over the same questions, not {left.shape} and {right.shape}.")
    return left, right

"""An interval for a mean that may be looked at after every value: the hedged capital confidence sequence.

An ordinary interval holds at one sample size that was fixed beforehand. Whoever looks after every value, and stops once
it is narrow or suits them, is wrong more often than it says. This one holds at all sample sizes at once: the chance
that it ever misses the mean is at most 1 - level. `benchmarks/confidence_sequence.py` simulates it.

Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting", Journal of the Royal
Statistical Society B 86, pp. 1-27, Theorem 3, with its predictable plug-in bets, equal capital of both sides, and the
running intersection. Two gamblers bet against each mean m that is possible, one that the values are larger and one that
they are smaller. Before value t they stake a part of their capital that depends only on the values before it:

    K+_t(m) = prod_{i <= t} (1 + min(b_i, c/m) (x_i - m))          K-_t(m) = prod (1 - min(b_i, c/(1-m)) (x_i - m))
    b_t = sqrt(2 log(2 / alpha) / (s_{t-1} t log(t + 1)))          c = 1/2
    s_t = (1/4 + sum_{i <= t} (x_i - u_i)^2) / (t + 1)             u_t = (1/2 + sum_{i <= t} x_i) / (t + 1)

Against the true mean neither capital ever reaches 2 / alpha but with a chance of alpha / 2 (Ville's inequality). The
interval is every m against which neither has reached it.

What it assumes: given the values before it, each value has the same mean. Values of independent people do, and so do
questions in random order if the answers of a person do not depend on each other. Answers of one person usually do:
then take one value per person.
"""

from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import ArrayLike

from analytics.ratings import Floats
from analytics.scores import NOTHING, scores_in_range

LEVEL = 0.95
# The largest part of the capital that is staked, as in section 4.3 of the paper.
LARGEST_STAKE = 0.5
# Bisections of a limit: its error is below 2**-40.
HALVINGS = 40
DRIFT = "The values contradict every mean: those that came late differ from those that came early."


@dataclass(frozen=True)
class SequenceInterval:
    """The mean of `n` values from 0 to 1, with its limits. value: None without values.

    low, high: None exactly when `reason` says why.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None = None

    @property
    def width(self) -> float | None:
        return None if self.low is None or self.high is None else self.high - self.low


def mean_sequence(values: ArrayLike, *, level: float = LEVEL) -> SequenceInterval:
    """Return the mean of `values` with the interval of the confidence sequence after the last of them.

    values: one dimension, numbers from 0 to 1, in the order in which they were seen. Leave missing values out before;
    whether one is missing must not depend on it. level: over 0 and under 1. Raises ValueError for anything else.

    Example: 1 and 1 again. The first bet is sqrt(2 log(40) / (log(2) / 4)) = 6.525. Then s_1 = (1/4 + 1/16) / 2 and the
    second bet is 4.636. The capital (1 + 6.525 (1 - m)) (1 + 4.636 (1 - m)) is 40 at m = 0.0341, where the interval
    begins; it ends at 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be over 0 and under 1. It is {level}.")
    given = scores_in_range(values)
    n = int(given.size)
    if not n:
        return SequenceInterval(None, None, None, 0, NOTHING)
    value, needed, bets = float(given.mean()), log(2 / (1 - level)), _bets(given, level)
    low = _lower_limit(given, bets, needed)
    high = 1 - _lower_limit(1 - given, bets, needed)
    if low > high:
        return SequenceInterval(value, None, None, n, DRIFT)
    return SequenceInterval(value, low, high, n)


def ever_misses(values: ArrayLike, mean: float, *, level: float = LEVEL) -> bool:
    """Return whether the confidence sequence of `values` excludes `mean` at any sample size.

    Example: the interval of 1 and 1 begins at 0.0341, so a mean of 0.03 is missed.
    """
    given = scores_in_range(values)
    bets, needed = _bets(given, level), log(2 / (1 - level))
    return bool(
        given.size and (_log_capital(given, bets, mean) >= needed or _log_capital(1 - given, bets, 1 - mean) >= needed)
    )


def smallest_width(n: int, *, level: float = LEVEL) -> float:
    """Return a width, from 0 to 1, that the interval of `n` values is never below, unless their mean drifts.

    No stake is larger than c/m and the logarithm is concave, so log K+ <= n log(1 + (c/m)(mean - m)). With
    d = ((2 / alpha)^(1/n) - 1) / c the lower limit is at most mean / (1 + d), and the upper one at least
    1 - (1 - mean) / (1 + d). Raises ValueError for n < 1.

    Example: of 10 values d is (40^0.1 - 1) / 0.5 = 0.892, so the width is at least 0.892 / 1.892 = 0.472.
    """
    if n < 1:
        raise ValueError(f"An interval needs at least one value, not {n}.")
    excess = (exp(log(2 / (1 - level)) / n) - 1) / LARGEST_STAKE
    return excess / (1 + excess)


def _bets(values: Floats, level: float) -> Floats:
    """Return the stake before each value, without its limit; it is the same for values and for 1 - values."""
    times = np.arange(1, values.size + 1)
    means = (0.5 + np.cumsum(values)) / (times + 1)
    variances = (0.25 + np.cumsum((values - means) ** 2)) / (times + 1)
    before = np.concatenate(([0.25], variances[:-1]))
    bets: Floats = np.sqrt(2 * log(2 / (1 - level)) / (before * times * np.log(times + 1)))
    return bets


def _log_capital(values: Floats, bets: Floats, mean: float) -> float:
    """Return the logarithm of the largest capital, at any time, of who bets that values are larger than `mean`."""
    stakes = np.minimum(bets, LARGEST_STAKE / mean) if mean > 0 else bets
    return float(np.cumsum(np.log1p(stakes * (values - mean))).max())


def _lower_limit(values: Floats, bets: Floats, needed: float) -> float:
    """Return the smallest mean against which the capital has not reached `needed`: it falls as the mean grows."""
    low, high = 0.0, 1.0
    if _log_capital(values, bets, low) < needed:
        return low
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _log_capital(values, bets, middle) >= needed:
            low = middle
        else:
            high = middle
    return low

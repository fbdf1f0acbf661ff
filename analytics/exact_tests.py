"""Exact tail probabilities of counts, for tests with few answers."""

from collections.abc import Sequence
from math import exp, lgamma

import numpy as np


def count_tail(chances: Sequence[float], at_least: int) -> float:
    """Return the probability that at least so many of independent events with these chances happen.

    The distribution is Poisson's binomial; with equal chances it is the binomial one.

    Example: chances .5 and .25, at least 1: 1 - .5 x .75 = .625.
    """
    if at_least <= 0:
        return 1.0
    if at_least > len(chances):
        return 0.0
    counts = np.zeros(len(chances) + 1)
    counts[0] = 1.0
    for chance in chances:
        counts[1:] = counts[1:] * (1 - chance) + counts[:-1] * chance
        counts[0] *= 1 - chance
    return min(float(counts[at_least:].sum()), 1.0)


def run_tail(chances: Sequence[float], length: int) -> float:
    """Return the probability that `length` of independent events in a row all happen, somewhere among them.

    Example: three events with chance .5, a run of 2: of eight sequences, 110, 011 and 111 have one: .375.
    """
    if length <= 0:
        return 1.0
    # The chance that the current run has 0, 1, ... events, while none has reached `length`.
    current = np.zeros(length)
    current[0], reached = 1.0, 0.0
    for chance in chances:
        reached += float(current[-1]) * chance
        ended = float(current.sum()) * (1 - chance)
        current[1:] = current[:-1] * chance
        current[0] = ended
    return min(reached, 1.0)


def beta_binomial_tail(n: int, at_least: int, *, mean: float, concentration: float) -> float:
    """Return the probability of at least so many of `n` events, if their chance differs between people.

    The chance is drawn from a beta distribution with this mean; the larger `concentration`, the less people differ.

    Example: mean .5 and concentration 2 is any chance alike, so each of 0 to 3 of 3 events has the probability .25.
    """
    a, b = mean * concentration, (1 - mean) * concentration

    def chance(k: int) -> float:
        choose = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
        return exp(choose + _log_beta(k + a, n - k + b) - _log_beta(a, b))

    return min(sum(chance(k) for k in range(max(at_least, 0), n + 1)), 1.0)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)

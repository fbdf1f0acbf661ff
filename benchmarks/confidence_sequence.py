"""Measure how often a 95 % interval that is looked at after every value ever misses the mean.

    python -m benchmarks.confidence_sequence [--rounds 2000] [--values 2000]

Beside the confidence sequence stands what it replaces: an interval for one sample size, read after each value from the
tenth on. For right answers that is Wilson's interval, for shares the normal interval with their true spread. In a run
an interval misses if the true mean is outside after any value. Values are right answers (0 or 1), or the shares right
of people with 10 questions each, whose ability differs.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np

from analytics.intervals.confidence_sequence import ever_misses, mean_sequence
from analytics.ratings import Floats

SEED, ALPHA, FIRST_LOOK, QUESTIONS = 2026, 0.05, 10, 10
NORMAL = 1.959964


@dataclass(frozen=True)
class Values:
    """Values from 0 to 1 with this mean and standard deviation; `draw` returns so many of them."""

    mean: float
    sd: float
    draw: Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True)
class Coverage:
    """Shares of runs in which each interval ever missed the mean, and the mean width at the end of the sequence."""

    sequence: float
    repeated: float
    width: float


def right_answers(share: float) -> Values:
    return Values(share, sqrt(share * (1 - share)), lambda rng, n: (rng.random(n) < share).astype(np.float64))


def people(share: float, alike: float) -> Values:
    """Return shares right of 10 questions by people whose ability is Beta(alike x share, alike x (1 - share)).

    Two answers of a person correlate by 1 / (alike + 1), so the variance of a share of k is p (1 - p) / k x
    (1 + (k - 1) / (alike + 1)).
    """
    spread = sqrt(share * (1 - share) / QUESTIONS * (1 + (QUESTIONS - 1) / (alike + 1)))
    return Values(
        share,
        spread,
        lambda rng, n: rng.binomial(QUESTIONS, rng.beta(share * alike, (1 - share) * alike, n)) / QUESTIONS,
    )


DESIGNS: Mapping[str, Values] = {
    "answers, 50 % right": right_answers(0.5),
    "answers, 90 % right": right_answers(0.9),
    "answers, 99 % right": right_answers(0.99),
    "people, 80 % right, alike": people(0.8, 50),
    "people, 80 % right, unlike": people(0.8, 2),
}


def coverage(of: Values, *, rounds: int, values: int, seed: int = SEED) -> Coverage:
    """Return how often the two intervals ever missed the mean in `rounds` runs of `values` values."""
    rng = np.random.default_rng(seed)
    missed, repeated, widths = 0, 0, []
    for _ in range(rounds):
        drawn = of.draw(rng, values)
        missed += ever_misses(drawn, of.mean, level=1 - ALPHA)
        repeated += repeated_ever_misses(drawn, of)
        widths.append(mean_sequence(drawn, level=1 - ALPHA).width or 0)
    return Coverage(missed / rounds, repeated / rounds, float(np.mean(widths)))


def repeated_ever_misses(values: Floats, of: Values) -> bool:
    """Return whether the interval of the values so far ever excludes the mean, which is a test of it."""
    times = np.arange(1, values.size + 1)
    outside = np.abs(np.cumsum(values) / times - of.mean) > NORMAL * of.sd / np.sqrt(times)
    return bool(outside[FIRST_LOOK - 1 :].any())


def lines(rounds: int, values: int) -> Iterator[str]:
    yield f"{rounds} runs of {values} values; promised: at most {ALPHA:.0%} of runs ever miss the mean."
    yield f"{'design':30} {'sequence':>9} {'repeated':>9} {'width':>7}"
    for name, of in DESIGNS.items():
        found = coverage(of, rounds=rounds, values=values)
        yield f"{name:30} {found.sequence:9.1%} {found.repeated:9.1%} {found.width:7.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--values", type=int, default=2000)
    given = parser.parse_args()
    for line in lines(given.rounds, given.values):
        print(line, flush=True)


if __name__ == "__main__":
    main()

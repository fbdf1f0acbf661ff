"""The confidence sequence of a mean, against a hand computation, its authors' code and simulated runs."""

from math import exp, log, sqrt

import numpy as np
import pytest

from analytics.intervals.confidence_sequence import DRIFT, ever_misses, mean_sequence, smallest_width
from benchmarks.confidence_sequence import Values, coverage, people, right_answers

# Thirty values that were written down once.
VALUES = [1, 1, 0, 1, 1, 0.5, 1, 1, 1, 0, 1, 1, 1, 1, 0.75, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1]


def test_the_first_two_steps_by_hand() -> None:
    """Bets before 1 and 1: variance 1/4, then (1/4 + (1 - 3/4)^2) / 2 = 5/32; each stakes less than 1/(2m)."""
    first = sqrt(2 * log(40) / (1 / 4 * log(2)))
    second = sqrt(2 * log(40) / (5 / 32 * 2 * log(3)))
    # (1 + first y) (1 + second y) = 40, for y = 1 - m.
    a, b = first * second, first + second
    y = (-b + sqrt(b * b + 4 * a * 39)) / (2 * a)
    found = mean_sequence([1, 1])
    assert (found.value, found.n, found.high) == (1, 2, 1)
    assert found.low == pytest.approx(1 - y, abs=1e-9)
    mirrored = mean_sequence([0, 0])
    assert (mirrored.low, mirrored.high) == pytest.approx((0, y), abs=1e-9)


def test_one_value_excludes_nothing() -> None:
    """Its bet is 6.525, so even against a mean of 0 the capital is 7.525 and not 40."""
    assert (mean_sequence([1]).low, mean_sequence([1]).high) == (0, 1)


@pytest.mark.parametrize(
    ("n", "low", "high"),
    [(10, 0.376, 1.0), (30, 0.61755, 0.96845), (60, 0.68935, 0.94005), (120, 0.73445, 0.9195)],
)
def test_it_is_the_interval_of_its_authors(n: int, low: float, high: float) -> None:
    """`betting_cs` of confseq 0.0.11, with a running intersection, on a grid of 1/20,000."""
    found = mean_sequence(np.tile(VALUES, 4)[:n])
    assert (found.low, found.high) == pytest.approx((low, high), abs=1.1 / 20_000)


def test_it_never_grows_wider() -> None:
    widths = [mean_sequence(VALUES[:n]).width or 0 for n in range(1, 31)]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize("values", [[1] * 50, [0] * 50, [0.5] * 50, VALUES[:10] * 5], ids=str)
def test_no_interval_is_narrower_than_the_bound(values: list[float]) -> None:
    """For 50 values: d = 2 (40^(1/50) - 1), and d / (1 + d) = 0.1325."""
    least = 2 * (exp(log(40) / 50) - 1)
    assert smallest_width(50) == pytest.approx(least / (1 + least)) == pytest.approx(0.1325, abs=5e-4)
    assert (mean_sequence(values).width or 0) >= smallest_width(50) - 1e-9


def test_values_that_drift_have_no_interval() -> None:
    found = mean_sequence([0] * 200 + [1] * 200)
    assert (found.value, found.low, found.high, found.reason) == (0.5, None, None, DRIFT)


def test_no_values_have_no_interval() -> None:
    assert (mean_sequence([]).value, mean_sequence([]).reason) == (None, "There is nothing to count.")
    assert not ever_misses([], 0.5)


@pytest.mark.parametrize(
    ("values", "level", "message"),
    [
        ([0.5, 1.5], 0.95, "Value 1"),
        ([float("nan")], 0.95, "Value 0"),
        ([1], 1.0, "level must be"),
        ([1], 0.0, "level must be"),
    ],
)
def test_other_values_are_refused(values: list[float], level: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mean_sequence(values, level=level)


def test_a_width_needs_values() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        smallest_width(0)


def test_missing_once_is_missing_for_good() -> None:
    """Ten times 0 exclude 0.9: the values after them cannot bring it back."""
    assert ever_misses([0] * 10 + [1] * 90, 0.9)
    assert not ever_misses(VALUES, 0.84)


@pytest.mark.parametrize("of", [right_answers(0.9), people(0.8, 2)], ids=["answers", "people"])
def test_whoever_looks_after_every_value_is_rarely_wrong(of: Values) -> None:
    """300 runs: at most 5 % + 2.6 standard errors ever miss; an interval for one sample size misses in a third."""
    found = coverage(of, rounds=300, values=500)
    assert found.sequence <= 0.05 + 2.6 * sqrt(0.05 * 0.95 / 300)
    assert found.repeated > 0.3

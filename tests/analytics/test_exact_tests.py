"""Tail probabilities against sequences counted by hand."""

from itertools import product
from math import comb, prod

import pytest

from analytics.exact_tests import beta_binomial_tail, count_tail, run_tail


def test_counts_of_events_with_different_chances() -> None:
    # 1 - .5 x .75, and .5 x .25.
    assert count_tail([0.5, 0.25], 1) == pytest.approx(0.625)
    assert count_tail([0.5, 0.25], 2) == pytest.approx(0.125)
    assert (count_tail([0.5], 0), count_tail([0.5], 2)) == (1.0, 0.0)
    # Binomial: 8 or more of 10 with .5 are 45 + 10 + 1 of 1,024 sequences.
    assert count_tail([0.5] * 10, 8) == pytest.approx(56 / 1024)


@pytest.mark.parametrize(("chances", "length"), [([0.5] * 3, 2), ([0.25] * 6, 3), ([0.9, 0.1, 0.6, 0.3, 0.8], 2)])
def test_a_run_somewhere_by_writing_out_all_sequences(chances: list[float], length: int) -> None:
    with_run = 0.0
    for sequence in product((True, False), repeat=len(chances)):
        if any(all(sequence[start : start + length]) for start in range(len(chances) - length + 1)):
            with_run += prod(
                chance if happens else 1 - chance for chance, happens in zip(chances, sequence, strict=True)
            )
    assert run_tail(chances, length) == pytest.approx(with_run)


def test_runs_that_are_certain_or_impossible() -> None:
    # 110, 011 and 111 of eight sequences.
    assert run_tail([0.5] * 3, 2) == pytest.approx(3 / 8)
    assert (run_tail([0.5], 0), run_tail([0.5], 2), run_tail([1.0] * 4, 4)) == (1.0, 0.0, 1.0)


def test_people_who_differ() -> None:
    # Beta(1, 1): every number from 0 to 3 is equally likely.
    assert beta_binomial_tail(3, 2, mean=0.5, concentration=2) == pytest.approx(0.5)
    # All of n with Beta(a, b) is a (a + 1) ... / (a + b) (a + b + 1) ...: Beta(4, 16), three of three.
    assert beta_binomial_tail(3, 3, mean=0.2, concentration=20) == pytest.approx(4 * 5 * 6 / (20 * 21 * 22))
    # With hardly any difference it is binomial.
    at_least_two = sum(comb(4, k) * 0.1**k * 0.9 ** (4 - k) for k in (2, 3, 4))
    assert beta_binomial_tail(4, 2, mean=0.1, concentration=1e7) == pytest.approx(at_least_two, rel=1e-4)
    assert beta_binomial_tail(4, 0, mean=0.1, concentration=20) == pytest.approx(1.0)

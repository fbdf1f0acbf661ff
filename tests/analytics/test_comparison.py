"""Paired comparisons against published and hand-computed numbers."""

from math import comb, erfc, sqrt

import numpy as np
import pytest

from analytics.comparison import difference, mcnemar


def outcomes(both: int, only_first: int, only_second: int, neither: int) -> tuple[list[bool], list[bool]]:
    first = [True] * (both + only_first) + [False] * (only_second + neither)
    second = [True] * both + [False] * only_first + [True] * only_second + [False] * neither
    return first, second


def test_mcnemar_of_one_against_nine() -> None:
    # Both tails of Binomial(10, 1/2) up to 1: 2 (1 + 10) / 1024. (1 - 9)^2 / 10 = 6.4.
    test = mcnemar(*outcomes(20, 1, 9, 5))
    assert (test.n, test.both, test.only_first, test.only_second, test.neither) == (35, 20, 1, 9, 5)
    assert test.p == pytest.approx(22 / 1024)
    assert test.chi_squared == pytest.approx(6.4)
    assert test.p_chi_squared == pytest.approx(0.0114, abs=5e-5)


def test_mcnemar_of_the_approval_ratings_of_a_prime_minister() -> None:
    # The counts of Agresti, Categorical data analysis, section 10.1: z = (86 - 150) / sqrt(236) = -4.17.
    test = mcnemar(*outcomes(794, 150, 86, 570))
    assert test.chi_squared == pytest.approx(4096 / 236)
    assert test.p_chi_squared == pytest.approx(erfc(sqrt(4096 / 236 / 2)))
    assert test.p == pytest.approx(2 * sum(comb(236, successes) for successes in range(87)) / 2**236)


def test_equal_disagreement_is_no_evidence() -> None:
    assert mcnemar(*outcomes(3, 4, 4, 3)).p == 1


def test_answerers_nothing_tells_apart_cannot_be_tested() -> None:
    test = mcnemar([True, False], [True, False])
    assert (test.p, test.chi_squared, test.p_chi_squared) == (None, None, None)
    assert test.reason == "No question tells the two apart."


def test_a_difference_has_a_paired_interval() -> None:
    first, second = outcomes(600, 150, 50, 200)
    result = difference(first, second, rng=np.random.default_rng(6), resamples=10_000)
    assert result.n == 1000
    assert result.value == pytest.approx(0.1)
    # Variance of one difference: 0.2 - 0.1^2; unpaired it would be 0.75 * 0.25 + 0.65 * 0.35.
    half = 1.96 * np.sqrt((0.2 - 0.01) / 1000)
    assert (result.interval.low, result.interval.high) == pytest.approx((0.1 - half, 0.1 + half), abs=0.002)


def test_the_difference_of_no_questions_is_undefined() -> None:
    result = difference([], [], rng=np.random.default_rng(6))
    assert (result.value, result.reason, result.n) == (None, "There is nothing to average.", 0)


def test_comparisons_need_the_same_questions() -> None:
    with pytest.raises(ValueError, match="over the same questions"):
        mcnemar([True], [True, False])

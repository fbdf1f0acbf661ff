"""Paired comparisons against published and hand-computed numbers."""

from math import comb, erfc, hypot, sqrt
from typing import Any

import numpy as np
import pytest

from analytics.comparison import compare_people, holm, mcnemar
from benchmarks.coverage import Design, rejections


def outcomes(both: int, only_first: int, only_second: int, neither: int) -> tuple[list[bool], list[bool]]:
    first = [True] * (both + only_first) + [False] * (only_second + neither)
    second = [True] * both + [False] * only_first + [True] * only_second + [False] * neither
    return first, second


def test_mcnemar_of_one_against_nine_and_four_against_four() -> None:
    # Both tails of Binomial(10, 1/2) up to 1: 2 (1 + 10) / 1024. (1 - 9)^2 / 10 = 6.4.
    test = mcnemar(*outcomes(20, 1, 9, 5))
    assert (test.n, test.both, test.only_first, test.only_second, test.neither) == (35, 20, 1, 9, 5)
    assert test.p == pytest.approx(22 / 1024)
    assert test.chi_squared == pytest.approx(6.4)
    assert test.p_chi_squared == pytest.approx(0.0114, abs=5e-5)
    assert mcnemar(*outcomes(3, 4, 4, 3)).p == 1


def test_mcnemar_of_the_approval_ratings_of_a_prime_minister() -> None:
    # The counts of Agresti, Categorical data analysis, section 10.1: z = (86 - 150) / sqrt(236) = -4.17.
    test = mcnemar(*outcomes(794, 150, 86, 570))
    assert test.chi_squared == pytest.approx(4096 / 236)
    assert test.p_chi_squared == pytest.approx(erfc(sqrt(4096 / 236 / 2)))
    assert test.p == pytest.approx(2 * sum(comb(236, successes) for successes in range(87)) / 2**236)


@pytest.mark.parametrize(
    ("second", "message"),
    [([True], "over the same questions"), ([True, float("nan")], "neither true"), ([True, "False"], "neither true")],
)
def test_mcnemar_refuses_other_lengths_and_what_is_neither_true_nor_false(second: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mcnemar([True, False], second)


def wilson(share: float, n: float, degrees: float) -> tuple[float, float]:
    """Wilson's interval with Student's t, in the form of Newcombe 1998."""
    from scipy import stats

    t = float(stats.t.ppf(0.975, degrees))
    middle, half = 2 * n * share + t**2, t * sqrt(t**2 + 4 * n * share * (1 - share))
    return (middle - half) / (2 * (n + t**2)), (middle + half) / (2 * (n + t**2))


def test_people_are_compared_with_a_model_by_the_intervals_of_both_shares() -> None:
    # Ann 3 of 4, ben 2 of 4, the model 1 of 4 on each one's questions. People: variance (1/32) / 2 of .625, less than
    # that of 8 single answers, one degree of freedom. The model: 2 of 8 questions, worth 8 x 7/8 with 7 degrees.
    found = compare_people([1, 1, 1, 0, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0, 1, 0], list("aaaabbbb"), range(8))
    assert (found.value, found.test) == (0.375, "clustered score test")
    assert (found.people, found.other) == (0.625, 0.25)
    assert (found.n_people, found.n_questions, found.n_answers) == (2, 8, 8)
    (low, high), (its_low, its_high) = wilson(0.625, 8, 1), wilson(0.25, 7, 7)
    # Question by question (y - .625)(x - .25) adds up to -.25; 8/7 of it over 64 is the covariance.
    correlation = -0.25 / 64 * 8 / 7 / sqrt(1 / 64 * 1.5 / 64 * 8 / 7)
    below = (0.625 - low) ** 2 + (its_high - 0.25) ** 2 - 2 * correlation * (0.625 - low) * (its_high - 0.25)
    above = (high - 0.625) ** 2 + (0.25 - its_low) ** 2 - 2 * correlation * (high - 0.625) * (0.25 - its_low)
    assert (found.low, found.high) == pytest.approx((0.375 - sqrt(below), 0.375 + sqrt(above)))


def test_the_probability_is_the_level_at_which_the_interval_ends_at_0() -> None:
    right, others, people = [1, 1, 1, 0, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0, 1, 0], list("aaaabbbb")
    p = compare_people(right, others, people, range(8)).p
    assert p is not None
    assert compare_people(right, others, people, range(8), level=1 - p).low == pytest.approx(0, abs=1e-6)


def test_a_model_that_is_right_on_all_of_few_shared_questions_may_be_wrong_on_others() -> None:
    # Ann is right on three of four questions, ben on two, the model on all: people .625 of 8 answers with one degree of
    # freedom, the model 4 of 4 questions with 3.
    found = compare_people([0, 1, 1, 1, 1, 0, 0, 1], [1] * 8, list("aaaabbbb"), [1, 2, 3, 4] * 2)
    assert found.value == -0.375
    above = hypot(wilson(0.625, 8, 1)[1] - 0.625, 1 - wilson(1, 4, 3)[0])
    assert found.high == pytest.approx(-0.375 + above)


def test_questions_about_one_instance_are_one_draw() -> None:
    # Four people answer four questions about each of two instances. They are right about the first, the model about
    # the second and one question of the first.
    right, others = [1, 1, 1, 1, 0, 0, 0, 0] * 4, [1, 0, 0, 0, 1, 1, 1, 1] * 4
    people, questions = [person for person in range(4) for _ in range(8)], list(range(8)) * 4
    apart = compare_people(right, others, people, questions)
    together = compare_people(right, others, people, questions, [question // 4 for question in questions])
    assert apart.value == together.value == -0.125
    assert (together.high or 0) - (together.low or 0) > 1.3 * ((apart.high or 0) - (apart.low or 0))


def test_mcnemar_is_used_only_where_each_answer_is_somebody_elses_to_another_question() -> None:
    mine, its = outcomes(20, 1, 9, 5)
    alone = compare_people(mine, its, range(35), range(35))
    assert alone.test == "McNemar"
    assert alone.p == pytest.approx(22 / 1024)
    assert compare_people(mine, its, [0] * 5 + list(range(1, 31)), range(35)).test == "clustered score test"


def test_what_cannot_be_tested_has_a_reason() -> None:
    alone = compare_people([1, 1], [0, 1], ["ann", "ann"], [1, 2])
    assert (alone.value, alone.p, alone.low) == (0.5, None, None)
    assert alone.reason == "Only one person answered, so there is no interval for other people."
    alike = compare_people([1, 0, 1, 0], [1, 0, 1, 0], list("aabb"), range(4))
    assert (alike.value, alike.p, alike.reason) == (0.0, None, "No question tells the two apart.")
    test = mcnemar([True, False], [True, False])
    assert (test.p, test.chi_squared, test.p_chi_squared, test.reason) == (None, None, None, alike.reason)


@pytest.mark.parametrize(
    ("design", "rounds", "seed", "most", "naive_least"),
    [
        # 1,000 data sets at 5 %: over 7.5 % comes once in 3,000. McNemar's test, which takes answers for independent,
        # rejects near one in five times and more.
        (Design(20, 50, 1.0, 0.0, 0.75, same=False), 1000, 4, 0.075, 0.15),
        # The model, as good as people, is right on all 25 questions in 0.97^25 = 47 of 100 data sets, and says nothing
        # of others.
        (Design(20, 25, 0.5, 0.0, 0.97, same=True), 1000, 4, 0.075, 0),
        # 5 people who differ much: t over people rejected 8.5 times in 100. A true 5 % of 600 data sets comes out over
        # 7 % once in 70 times; these seeds are none of them.
        (Design(5, 100, 1.0, 0.0, 0.8, same=False), 600, 8, 0.07, 0),
        (Design(5, 100, 1.0, 0.0, 0.95, same=False), 600, 8, 0.07, 0),
        (Design(20, 25, 0.5, 1.25, 0.75, same=True, per_instance=4), 600, 8, 0.07, 0),
        (Design(20, 50, 0.0, 1.25, 0.9, same=True, per_instance=2), 600, 8, 0.07, 0),
    ],
    ids=str,
)
def test_people_as_good_as_a_model_are_told_apart_as_rarely_as_promised(
    design: Design, rounds: int, seed: int, most: float, naive_least: float
) -> None:
    ours, naive = rejections(design, rounds, np.random.default_rng(seed))
    assert ours <= most
    assert naive >= naive_least


def test_several_tests_are_allowed_for() -> None:
    # Holm 1979: the smallest of three times 3, the next times 2, the last as the one before it, which is larger.
    assert holm([0.01, 0.04, None, 0.03]) == [0.03, 0.06, None, 0.06]


def test_answers_that_are_right_in_part_are_compared_by_interval_even_where_everybody_answered_once() -> None:
    # People .75 with the variance (1/16) / 3 = 1/48, as 9 single answers; two degrees. The model is half right on all
    # three questions, which is believed of 3 single ones. Nothing varies together.
    found = compare_people([1, 0.75, 0.5], [0.5, 0.5, 0.5], ["ann", "ben", "cleo"], [1, 2, 3])
    assert found.test == "clustered score test"
    assert found.value == pytest.approx(0.25)
    (low, high), (its_low, its_high) = wilson(0.75, 9, 2), wilson(0.5, 3, 2)
    limits = 0.25 - hypot(0.75 - low, its_high - 0.5), 0.25 + hypot(high - 0.75, 0.5 - its_low)
    assert (found.low, found.high) == pytest.approx(limits)

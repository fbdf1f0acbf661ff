"""The probability of superiority, counted by hand, and its interval for other people."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from analytics.intervals.bootstrap import FEW_PEOPLE, Interval
from analytics.intervals.superiority import EMPTY, superiority


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def width(interval: Interval) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return interval.high - interval.low


def test_pairs_that_the_first_group_wins_are_counted_by_hand_and_ties_count_half() -> None:
    # 3 beats 2 and ties with 3, 5 beats both: 3.5 of 4.
    found = superiority([3, 5, 2, 3], [True, True, False, False], ["a", "b", "a", "b"], rng=rng())
    assert (found.value, found.n_people, found.reason) == (0.875, 2, None)
    assert found.interval == Interval(None, None, FEW_PEOPLE, 2)
    assert superiority([1, 1], [True, False], ["a", "a"], rng=rng()).value == 0.5


def test_it_is_the_statistic_of_mann_and_whitney_by_pair_whoever_the_numbers_are_of() -> None:
    drawn = np.random.default_rng(3)
    values, is_first = drawn.integers(0, 9, 200).astype(float), drawn.random(200) < 0.4
    people = drawn.integers(0, 30, 200).tolist()
    expected = mannwhitneyu(values[is_first], values[~is_first]).statistic / (is_first.sum() * (~is_first).sum())
    found = superiority(values, is_first.tolist(), people, rng=rng())
    assert found.value == pytest.approx(expected)
    assert 0 < width(found.interval) < 0.5
    assert superiority(values, is_first.tolist(), people, rng=rng()) == found


def test_people_whose_numbers_are_alike_make_the_interval_wider_than_as_many_independent_numbers() -> None:
    drawn = np.random.default_rng(5)
    of_person, is_first = np.repeat(drawn.normal(size=30), 20), np.repeat(drawn.random(30) < 0.5, 20).tolist()
    together = superiority(of_person, is_first, np.repeat(np.arange(30), 20).tolist(), rng=rng())
    apart = superiority(of_person, is_first, list(range(600)), rng=rng())
    # Of 20 equal numbers each, 30 people are worth 30 numbers: the interval is about the root of 20 times as wide.
    assert width(together.interval) > 3 * width(apart.interval)


@pytest.mark.parametrize("is_first", [[True, True], [False, False]])
def test_an_empty_group_leaves_nothing_to_compare(is_first: list[bool]) -> None:
    found = superiority([1, 2], is_first, ["a", "b"], rng=rng())
    assert (found.value, found.reason, found.interval.reason) == (None, EMPTY, EMPTY)
    assert superiority([], [], [], rng=rng()).reason == EMPTY

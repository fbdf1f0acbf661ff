"""Means of answers by person and instance, against hand computations."""

from math import pi, sin, sqrt

import pytest

from analytics.intervals.clustered_means import clustered_mean


def test_every_answer_counts_once() -> None:
    found = clustered_mean([1, 1, 1, 0], list("aaab"), list("wxyz"))
    assert (found.value, found.n_people, found.n_instances, found.n_answers) == (0.75, 2, 4, 4)


@pytest.mark.parametrize(
    ("values", "instances"),
    [
        # Means 1 and 0 of two answers each: variance 2 (1/16 + 1/16) = 1/4 with 1 degree of freedom, worth one answer.
        ([1, 1, 0, 0], "wxyz"),
        # Both say 1 of the first and 0 of the second: people do not differ, and have 2 x 2 (1/8) / 2 in common.
        ([1, 0, 1, 0], "xyxy"),
    ],
    ids=["people", "instances"],
)
def test_people_or_instances_that_differ_are_as_many_as_they_are(values: list[int], instances: str) -> None:
    found = clustered_mean(values, list("aabb"), list(instances))
    assert (found.low, found.high) == pytest.approx(((1 - sin(0.475 * pi)) / 2, (1 + sin(0.475 * pi)) / 2))


def test_a_mean_of_ratings_has_their_spread_and_stays_on_the_scale() -> None:
    found = clustered_mean([5, 5, 4, 5], list("aabb"), list("wxyz"), bounds=(1, 5))
    assert (found.value, found.sd) == pytest.approx((4.75, 0.5))
    assert 1 < (found.low or 0) < 4.75 < (found.high or 0) <= 5


def test_answers_that_are_all_alike_still_have_an_interval() -> None:
    # Wilson's for four of four answers, with 1 degree of freedom: 4 / (4 + t^2) of the way from 1 to 5.
    found = clustered_mean([5, 5, 5, 5], list("aabb"), list("wxyz"), bounds=(1, 5))
    assert (found.low, found.high) == pytest.approx((1 + 4 * 4 / (4 + 12.7062047**2), 5))


def test_one_answerer_varies_by_instance() -> None:
    # Four instances of two answers, two of them all 1: variance 4/3 x 4 (1/8)^2 = 1/12, worth three answers.
    found = clustered_mean([1, 1, 1, 1, 0, 0, 0, 0], None, [1, 1, 2, 2, 3, 3, 4, 4])
    half = 3.18244631 * sqrt(3.18244631**2 + 3) / (2 * (3 + 3.18244631**2))
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half))


@pytest.mark.parametrize(
    ("people", "instances", "reason"),
    [
        ("aa", "xy", "Only one person answered, so there is no interval for other people."),
        ("ab", "xx", "All answers are about one instance, so there is no interval for other instances."),
        ("", "", "There is nothing to count."),
    ],
)
def test_too_little_gives_no_interval(people: str, instances: str, reason: str) -> None:
    found = clustered_mean([1, 0][: len(people)], list(people), list(instances))
    assert (found.low, found.high, found.reason) == (None, None, reason)


def test_answers_outside_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="outside 1 to 5"):
        clustered_mean([0, 5], list("ab"), list("xy"), bounds=(1, 5))

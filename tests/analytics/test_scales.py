"""Use of a scale. Expected values by hand."""

from math import sqrt
from typing import Any

import pytest

from analytics.scales import distribution, use_of_scale

STEPS = ["1", "2", "3", "4", "5"]


def test_ratings_are_counted_per_step_with_mean_and_spread() -> None:
    found = distribution(["2", "4", "4"], STEPS)
    assert list(found.counts) == [0, 1, 0, 2, 0]
    # (2 + 4 + 4) / 3; squares (16 + 4 + 4) / 9 = 8/3 over n - 1 = 2.
    assert found.mean == pytest.approx(10 / 3)
    assert found.sd == pytest.approx(sqrt(4 / 3))
    named = distribution(["bad", "good", "good", "good"], ["bad", "good"], {"bad": -1, "good": 1})
    assert named.mean == pytest.approx(0.5)


def test_nothing_rated_has_no_mean_and_one_rating_no_spread() -> None:
    assert distribution([], STEPS).mean is None
    one = distribution(["3"], STEPS)
    assert (one.mean, one.sd) == (3.0, None)


def test_what_is_no_step_is_an_error() -> None:
    with pytest.raises(ValueError, match="The rating '6'"):
        distribution(["6"], STEPS)
    with pytest.raises(ValueError, match="The rating '0'"):
        use_of_scale([(1, "ann", "0")], STEPS)


@pytest.mark.parametrize(
    ("ratings", "leans"),
    [
        # Others of ann: (1 + 4) / 2 = 2.5; she gave 5.
        ([(1, "ann", "5"), (1, "ben", "1"), (1, "cho", "4")], {"ann": 2.5, "ben": 1 - 4.5, "cho": 4 - 3}),
        ([(1, "ann", "5")], {"ann": None}),
    ],
    ids=["three", "alone"],
)
def test_a_lean_is_taken_from_the_mean_of_the_others(ratings: Any, leans: dict[str, float | None]) -> None:
    assert {person: use.lean for person, use in use_of_scale(ratings, STEPS).items()} == pytest.approx(leans)


def test_who_rates_higher_than_the_others_leans_up() -> None:
    ratings = [(1, "ann", "5"), (1, "ben", "3"), (2, "ann", "4"), (2, "ben", "4"), (3, "ann", "1")]
    found = use_of_scale(ratings, STEPS)
    assert (found["ann"].lean, found["ben"].lean) == pytest.approx((1, -1))
    assert (found["ann"].n, found["ann"].shared, found["ann"].used) == (3, 2, 3)
    # Each step once.
    assert found["ann"].most == pytest.approx(1 / 3)

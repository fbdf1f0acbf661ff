"""Position bias against hand computation and tables of the chi-squared distribution."""

from math import exp, sqrt
from typing import Any

import pytest

from analytics.position_bias import own_positions, position_bias


def chosen(*counts: int) -> list[int]:
    return [position for position, count in enumerate(counts) for _ in range(count)]


def test_a_slight_preference_among_four_places_is_no_evidence() -> None:
    # (5^2 + 5^2) / 25 = 2; chi-squared of 3 degrees of freedom over 2 has probability 0.5724.
    bias = position_bias(chosen(30, 20, 25, 25), 4)
    assert (bias.counts, bias.expected, bias.n, bias.degrees) == ((30, 20, 25, 25), (25, 25, 25, 25), 100, 3)
    assert bias.chi_squared == pytest.approx(2)
    assert bias.p == pytest.approx(0.5724, abs=5e-5)
    assert bias.effect == pytest.approx(sqrt(0.02))
    assert bias.least_expected == 25
    # The first of three places 30 times. Two degrees of freedom: the tail is exp(-x / 2).
    largest = position_bias([0] * 30, 3)
    assert (largest.chi_squared, largest.counts) == (60, (30, 0, 0))
    assert [largest.effect, largest.p] == pytest.approx([sqrt(2), exp(-30)])


def test_questions_with_different_numbers_of_places_are_tested_apart() -> None:
    # Of two places 6 to 2: 2 at one degree. Of three places 4, 1, 1: 3 at two degrees.
    bias = position_bias([*chosen(6, 2), *chosen(4, 1, 1)], [2] * 8 + [3] * 6)
    assert bias.chi_squared == pytest.approx(5)
    assert bias.degrees == 3
    assert bias.counts == (10, 3, 1)
    assert bias.expected == (6, 6, 2)
    assert bias.least_expected == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: position_bias([4], 4), "not shown"),
        (lambda: position_bias([-1], 4), "not shown"),
        (lambda: position_bias([0, 1], [2]), "2 choices of 1 questions"),
        (lambda: own_positions([0, 1], 4, ["a"]), "each choice has one"),
    ],
)
def test_choices_that_cannot_have_been_made_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_four_people_stuck_on_four_places_are_seen_one_by_one() -> None:
    # Together every place is chosen ten times. Each one alone: 10, 0, 0, 0 of 2.5, (7.5^2 + 3 * 2.5^2) / 2.5 = 30.
    stuck = [position for position in range(4) for _ in range(10)]
    found = own_positions(stuck, 4, stuck)
    assert position_bias(stuck, 4).p == 1
    assert [bias.chi_squared for bias in found.by_annotator.values()] == [30, 30, 30, 30]
    assert (found.chi_squared, found.degrees) == (120, 12)
    assert found.p is not None
    assert found.p < 0.001


def test_small_expected_counts_are_drawn_instead_of_approximated() -> None:
    # Four answers, all the first of four places: of 4^4 outcomes 4 are as uneven, 4 / 256 = .0156, where the
    # chi-squared distribution says .0074. 9,999 draws have a standard error of .0012.
    found = position_bias([0, 0, 0, 0], 4)
    assert found.method == "drawn"
    assert found.p == pytest.approx(4 / 256, abs=0.004)
    assert position_bias([0, 0, 0, 0], 4).p == found.p
    assert position_bias([0, 1, 2, 3] * 5, 4).method == "chi-squared"


@pytest.mark.parametrize(
    ("chosen", "shown", "reason"),
    [([0, 0], 1, "Nobody had more than one place to choose."), ([], 4, "Nobody has chosen a place.")],
)
def test_without_a_choice_of_places_there_is_no_bias_and_no_habit(chosen: list[int], shown: int, reason: str) -> None:
    bias = position_bias(chosen, shown)
    assert (bias.p, bias.chi_squared, bias.effect, bias.n, bias.reason) == (None, None, None, len(chosen), reason)
    assert own_positions(chosen, shown, list("ab")[: len(chosen)]).reason == reason


@pytest.mark.parametrize(
    ("answers", "places", "smallest", "few"),
    [(5, 2, 1 / 16, True), (6, 2, 1 / 32, False), (3, 4, 1 / 16, True), (4, 4, 1 / 64, False), (3, 10, 1 / 100, False)],
)
def test_too_few_answers_cannot_show_a_bias(answers: int, places: int, smallest: float, *, few: bool) -> None:
    found = position_bias([0] * answers, places)
    assert found.smallest_p == pytest.approx(smallest)
    assert bool(found.too_few) is few


def test_the_smallest_probability_is_a_product_over_numbers_of_places() -> None:
    assert position_bias([0, 1, 0, 0], [2, 2, 4, 4]).smallest_p == pytest.approx(1 / 2 * 1 / 4)

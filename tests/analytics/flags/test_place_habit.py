from typing import Any

import pytest

from tests.analytics.flags.made import find, sentence


def _at(*places: int) -> list[dict[str, int]]:
    return [{"place": place, "shuffled": 4} for place in places]


def test_finds_who_always_chooses_the_first_place() -> None:
    found = find("place_habit", _at(*[0] * 12))
    # By chance and a quarter of answers by habit: .25 + .25 x .75 = .4375, twelve times.
    assert found is not None
    assert found["p"] == pytest.approx(0.4375**12)
    assert (found["place"], found["chosen"], found["answers"], found["expected"]) == (1, 12, 12, 3.0)
    # All at one of four places: chi-squared 36 of 12 answers, w = the root of 3.
    assert found["effect"] == 1.73
    assert sentence("place_habit", found) == (
        "The option at place 1 was chosen in 12 of 12 answers (100 %); places are random, so 3 are expected "
        "(p < 0.001)."
    )


def test_spares_who_takes_the_first_of_two_that_are_equally_good() -> None:
    # Two of four others chose each: nobody can tell, so that three quarters of habit are left. Where all agree, half of
    # the answers are at the first place. Of 60, 45 are.
    tie = {"label": "a", "place": 0, "shuffled": 2, "places": 2, "others": {"a": 2, "b": 2}}
    clear = [{"label": "a", "place": place, "shuffled": 2, "places": 2, "others": {"a": 4}} for place in (0, 1)]
    answers: list[dict[str, Any]] = [tie, tie, *clear] * 15
    assert find("place_habit", answers, agreement={"pick": 0.7}) is None
    # If the answers of others say nothing, a quarter of habit explains .625 of 240 answers, and 180 are far more.
    assert find("place_habit", answers * 4) is not None
    assert find("place_habit", answers * 4, agreement={"pick": 0.7}) is None


def test_spares_a_weak_habit_and_fixed_options() -> None:
    # Half of the answers at the first place: twice as many as by chance, but explained by a quarter of habit.
    assert find("place_habit", _at(*[0, 0, 1, 2, 0, 3] * 10)) is None
    assert find("place_habit", _at(*[0, 1, 2, 3] * 20)) is None
    # Nobody can choose the place of "yes".
    assert find("place_habit", [{"label": "yes", "place": None}] * 50) is None
    # Seven answers: .4375 to the seventh is .003, more than .002 / 4.
    assert find("place_habit", _at(*[2] * 7)) is None

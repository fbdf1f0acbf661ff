from typing import Any

import pytest

from tests.analytics.flags.made import find, sentence


def _at(*places: int) -> list[dict[str, int]]:
    return [{"place": place, "shuffled": 4} for place in places]


def test_finds_cycles() -> None:
    found = find("patterns", _at(*[0, 1, 2, 3] * 5))
    # Sixteen answers repeat the one four before; each does so with .25 and a tenth of the rest: .325.
    assert found is not None
    assert found["p"] == pytest.approx(0.325**16)
    assert (found["period"], found["repeats"], found["of"]) == (4, 16, 16)
    assert sentence("patterns", found) == (
        "16 of 16 answers chose the same place or option as the one 4 before (p < 0.001)."
    )
    up_and_down = find("patterns", _at(*[0, 1, 2, 3, 2, 1] * 4))
    assert up_and_down is not None
    assert up_and_down["period"] == 6


def test_finds_cycles_where_others_disagree() -> None:
    tie = {"label": "a", "others": {"a": 2, "b": 2}}
    found = find("patterns", [tie | at for at in _at(*[0, 1, 2, 3] * 5)], agreement={"pick": 0.7})
    # Of two that are equally good somebody may always take the first, which explains four repeats and not the other
    # twelve, each with .325.
    assert found is not None
    assert (found["period"], found["repeats"]) == (4, 16)
    assert found["p"] <= 0.325**12


def test_finds_a_straight_line_within_a_session() -> None:
    # Random places, then one place fifteen times.
    mixed = [0, 2, 1, 3, 3, 1, 0, 2, 1, 0, 2, 3, 0, 3, 1, 2, 0, 1, 3, 2, 1, 3, 0, 2, 3, 1, 2, 0, 1, 0] * 3
    found = find("patterns", _at(*mixed, *[2] * 15))
    assert found is not None
    assert (found["period"], found["in_a_row"]) == (1, True)
    assert sentence("patterns", found).startswith(f"{found['repeats']} answers in a row chose")


def test_spares_answers_that_their_questions_explain() -> None:
    # All "yes", and so say all others: each repeats with the chance that others give it.
    agreed = {"label": "yes", "places": 2, "others": {"yes": 3}}
    assert find("patterns", [agreed] * 40, agreement={"pick": 0.95}) is None
    # Where others differ, it is a straight line.
    yes, no = agreed, {"label": "yes", "places": 2, "others": {"no": 3}}
    assert find("patterns", [yes, no] * 20, agreement={"pick": 0.95}) is not None
    # Nobody else answered, and nothing is known of other answers.
    assert find("patterns", [{"label": "yes", "places": 2}] * 40) is None


def test_spares_people_who_say_yes_more_readily_than_others() -> None:
    # Four of five answers are "yes", in no order, where others are divided.
    divided = {"places": 2, "others": {"yes": 2, "no": 2}}
    order = "yyyynyyyyyynyyynyyyyyynynyyyyyyyynyyynyyyyyyyyynynyyyyny"
    answers = [divided | {"label": "yes" if letter == "y" else "no"} for letter in order]
    assert find("patterns", answers, agreement={"pick": 0.55}) is None


def test_finds_a_straight_line_of_one_option() -> None:
    always = {"label": "yes", "places": 2, "others": {"yes": 2, "no": 2}}
    found = find("patterns", [always] * 120, agreement={"pick": 0.55})
    # Others say "yes" half of the time and disagree .9 of what chance gives; a leaning explains up to .9, so
    # .5 + .9 x .4 = .86, and a weak habit a tenth of the rest: .874, 119 times.
    assert found is not None
    assert found["p"] == pytest.approx(0.874**119)


def test_finds_none_in_turn_with_the_first_image() -> None:
    turns: list[dict[str, Any]] = [
        {"place": 0, "shuffled": 4},
        {"label": "none", "place": None, "others": {"none": 1, "a": 3}},
    ] * 12
    found = find("patterns", turns, agreement={"pick": 0.8})
    assert found is not None
    assert found["period"] == 2


def test_spares_short_sessions() -> None:
    assert find("patterns", _at(*[0] * 8)) is None

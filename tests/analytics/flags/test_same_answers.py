from typing import Any

from tests.analytics.flags.made import find, sentence

KNOWN: dict[str, Any] = {"agreement": {"pick": 0.8}, "compared": 2}


def _questions(labels: list[str], others: str = "a") -> list[dict[str, Any]]:
    """Two others answered as everybody, and one session as this one: the copied one."""
    return [
        {"label": label, "places": 4, "others": {others: 2, label: 1} if label != others else {others: 3}}
        for label in labels
    ]


def test_finds_a_copy_with_its_errors() -> None:
    # 12 of 60 answers differ from both others.
    labels = (["a"] * 4 + ["b"]) * 12
    found = find("same_answers", _questions(labels), earlier_answers=[dict(enumerate(labels, start=1))], **KNOWN)
    assert found is not None
    assert (found["equal"], found["shared"], found["odd_equal"], found["odd"]) == (60, 60, 12, 12)
    assert sentence("same_answers", found) == (
        "60 of 60 answers equal those that one other session had given before, also 12 of 12 in which it differs from "
        "most others (p < 0.001)."
    )


def test_spares_two_experts() -> None:
    # Equal because both are right: nothing is odd.
    labels = ["a"] * 100
    earlier = [dict(enumerate(labels, start=1))]
    assert find("same_answers", _questions(labels), earlier_answers=earlier, **KNOWN) is None


def test_spares_people_who_differ_from_others_alike_and_from_each_other_too() -> None:
    # Both differ from others in the same 12 of 60; each errs in three more.
    mine = (["a"] * 4 + ["b"]) * 12
    theirs = list(mine)
    for place in (0, 11, 22):
        mine[place] = "c"
    for place in (3, 16, 31):
        theirs[place] = "d"
    answers = _questions(mine)
    earlier = [dict(enumerate(theirs, start=1))]
    assert find("same_answers", answers, earlier_answers=earlier, **KNOWN) is None


def test_spares_short_sessions_and_those_without_an_earlier_one() -> None:
    labels = (["a"] * 4 + ["b"]) * 3
    earlier = [dict(enumerate(labels, start=1))]
    assert find("same_answers", _questions(labels), earlier_answers=earlier, **KNOWN) is None
    assert find("same_answers", _questions(labels * 4), **KNOWN) is None

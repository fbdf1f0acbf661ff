"""What careful people with a leaning answer, against chances computed by hand."""

import pytest

from analytics.expected_answers import ComparedAnswer
from analytics.leanings import follows_others, has_extreme_leaning, leaning_agreement_p, leaning_chances

YES_NO, NONE = frozenset({"yes", "no"}), frozenset({"none"})


def _pick(label: str, others: dict[str, int]) -> ComparedAnswer:
    return ComparedAnswer(label, others, 5, 0.55, NONE)


CLEAR, DOUBTED = {"a": 10}, {"a": 9, "none": 1}
STRICT = [*[_pick("a", CLEAR)] * 10, *[_pick("none", DOUBTED)] * 90]


def test_a_leaning_multiplies_the_odds_of_an_option_by_the_same_factor_at_each_question() -> None:
    # Others predict "yes" with .75 and .25. With half an answer added, the person says "yes" to 1/6 of the questions.
    # The factor f of the odds 3 and 1/3: 3f / (3f + 1) + f / (f + 3) = 1/3, so 15 f^2 + 20 f - 3 = 0 and f = .1361.
    answers = [ComparedAnswer("no", {each: 1}, 2, 0.75, YES_NO) for each in ("yes", "no")]
    first, second = leaning_chances(answers)
    assert (first.careful["yes"], second.careful["yes"]) == pytest.approx((0.2899, 0.0434), abs=5e-4)
    assert first.careful["no"] == pytest.approx(1 - first.careful["yes"])
    assert first.at_random == second.at_random == {"no": pytest.approx(5 / 6), "yes": pytest.approx(1 / 6)}


def test_options_at_random_places_share_what_a_leaning_leaves() -> None:
    chances = leaning_chances(STRICT)
    # "none" has 90.5 of 101, and the four images share the rest.
    assert chances[0].at_random == {"none": pytest.approx(90.5 / 101), "a": pytest.approx(10.5 / 101 / 4)}
    assert sum(each.careful["none"] for each in chances) == pytest.approx(90.5 / 101 * 100, abs=0.01)
    assert chances[0].careful["none"] < chances[-1].careful["none"]


def test_strict_people_follow_the_questions() -> None:
    # They say "none" unless everybody else agrees on an image.
    assert follows_others(STRICT)
    # Everything agrees with others at least as often as a careful person's with this leaning.
    assert leaning_agreement_p(STRICT, leaning_chances(STRICT), skill=0.5) > 0.5


def test_who_says_none_as_often_but_at_random_does_not() -> None:
    images = ["a", "b", "c", "d", "b"] * 2
    at_random = [*[_pick("none", CLEAR)] * 10, *[_pick("none", DOUBTED)] * 80]
    assert not follows_others([*at_random, *(_pick(image, DOUBTED) for image in images)])
    # Nor does somebody who never says anything else.
    assert not follows_others([_pick("none", DOUBTED)] * 100)


@pytest.mark.parametrize(
    ("nones", "others", "is_extreme"), [(16, 4, True), (15, 5, False), (92, 8, True), (91, 9, False), (20, 0, True)]
)
def test_few_other_answers_cannot_show_whether_somebody_follows(nones: int, others: int, is_extreme: bool) -> None:
    answers = [*[_pick("none", DOUBTED)] * nones, *[_pick("a", CLEAR)] * others]
    assert has_extreme_leaning(answers) is is_extreme
    # An image is no option with a place of its own.
    assert not has_extreme_leaning([_pick("a", CLEAR)] * nones)


def test_without_an_option_that_keeps_its_place_there_is_no_leaning() -> None:
    assert not follows_others([ComparedAnswer("a", {"a": 3}, 4, 0.8)] * 50)

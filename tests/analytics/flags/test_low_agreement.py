from math import comb
from typing import Any

import pytest

from tests.analytics.flags.made import find, sentence

# Two options, one other person, agreement .9: half of the skill of others agrees with .5 + .5 x .4 = .7.
AGREES = {"label": "yes", "places": 2, "others": {"yes": 1}}
DIFFERS = {"label": "no", "places": 2, "others": {"yes": 1}}
KNOWN = {"agreement": {"pick": 0.9}}


def test_finds_who_agrees_as_by_chance() -> None:
    # 25 or fewer of 50 with .7 is .0024; the rate for all answers is .001.
    assert find("low_agreement", [AGREES, DIFFERS] * 25, **KNOWN) is None
    found = find("low_agreement", [AGREES, DIFFERS] * 40, **KNOWN)
    # The binomial distribution: 40 or fewer of 80 with .7.
    assert found is not None
    assert found["p"] == pytest.approx(sum(comb(80, k) * 0.7**k * 0.3 ** (80 - k) for k in range(41)))
    assert (found["agreed"], found["expected"], found["by_chance"]) == (0.5, 0.9, 0.5)
    # Exact interval of 40 of 80 (Clopper and Pearson 1934): 38.6 to 61.4 %.
    assert sentence("low_agreement", found) == (
        "Agreement with unflagged sessions is 50 % on 80 answers (95 % CI 39–61); they agree with each other on 90 %, "
        "and chance gives 50 % (p < 0.001)."
    )


def test_agreement_is_never_below_zero() -> None:
    found = find("low_agreement", [{"label": "b", "places": 5, "others": {"a": 1}}] * 40, **KNOWN)
    assert found is not None
    assert (found["agreed"], found["low"]) == (0.0, 0.0)


def test_finds_who_stops_caring() -> None:
    found = find("low_agreement", [AGREES] * 100 + [DIFFERS] * 50, **KNOWN)
    assert found is not None
    # The last half is 75 answers, of which 25 agree.
    assert (found["answers"], found["from_number"]) == (75, 76)
    said = sentence("low_agreement", found)
    assert said.startswith("Agreement with unflagged sessions is 33 % on the 75 answers from number 76")


def test_spares_a_minority_opinion() -> None:
    # Three of ten answers differ, where others agree on nine of ten.
    assert find("low_agreement", [*[AGREES] * 7, *[DIFFERS] * 3] * 10, **KNOWN) is None


def test_spares_what_cannot_be_compared() -> None:
    assert find("low_agreement", [DIFFERS] * 9, **KNOWN) is None
    assert find("low_agreement", [DIFFERS] * 100, agreement={"pick": 0.5}) is None
    assert find("low_agreement", [DIFFERS | {"others": {}}] * 100, **KNOWN) is None
    assert find("low_agreement", [DIFFERS | {"check": "gold"}] * 100, **KNOWN) is None


# They say "none" unless all others agree on an image.
STRICT: list[dict[str, Any]] = [
    {"label": "none", "others": {"a": 9, "none": 1}} if number % 10 else {"label": "a", "others": {"a": 10}, "place": 0}
    for number in range(100)
]
LEANING: dict[str, Any] = {"agreement": {"pick": 0.55}, "fixed_labels": {"pick": frozenset({"none"})}}


@pytest.mark.parametrize("rule", ["low_agreement", "patterns", "fast_and_different"])
def test_spares_strict_people_who_follow_the_questions(rule: str) -> None:
    fast = {"possible_seconds": 2.0} if rule == "fast_and_different" else {}
    medians = {"median_seconds": {"pick": 8.0}}
    assert find(rule, [each | fast for each in STRICT], **LEANING, **medians) is None
    # Without "none" among the options that keep their place there is nothing to lean to.
    assert find(rule, [each | fast for each in STRICT], agreement={"pick": 0.55}, **medians) is not None


# Of 40 answers all but one are "none", where four of five others agree on an image.
VERY_STRICT: list[dict[str, Any]] = [
    ({"label": "a", "place": 0} if number == 5 else {"label": "none"}) | {"others": {"a": 4, "none": 1}}
    for number in range(40)
]
CLEARER = LEANING | {"agreement": {"pick": 0.7}}


@pytest.mark.parametrize("rule", ["low_agreement", "patterns", "weak_signs", "failed_checks"])
def test_spares_very_strict_people_until_they_fail_instructions(rule: str) -> None:
    # Six gold questions failed by "none", as most of their answers: Beta(4, 16) gives .0005 otherwise.
    gold: list[dict[str, Any]] = [{"label": "none", "check": "gold", "is_right": False}] * 6
    passed: list[dict[str, Any]] = [{"label": "none", "check": "instruction", "is_right": True}] * 2
    failed: list[dict[str, Any]] = [{"label": "none", "check": "instruction", "is_right": False}] * 2
    assert find(rule, [*VERY_STRICT, *gold, *passed], **CLEARER) is None
    assert find(rule, [*VERY_STRICT, *gold, *failed], **CLEARER) is not None
    # Whoever says nothing else may always press the same key.
    always = [each | {"label": "none", "place": None} for each in VERY_STRICT]
    found = find(rule, [*always, *gold, *passed], **CLEARER)
    assert (found is not None) == (rule == "failed_checks")


def test_a_very_long_run_of_one_option_is_a_pattern() -> None:
    # A leaning that nothing shows explains .93, and habit .1 of the rest: .937 to the 132nd is .0002, to the 134th less
    # than .002 / 12.
    always: list[dict[str, Any]] = [{"label": "none", "others": {"a": 4, "none": 1}}] * 140
    assert find("patterns", always[:120], **CLEARER) is None
    assert find("patterns", always, **CLEARER) is not None


def test_finds_who_says_none_as_often_at_random() -> None:
    images = ["a", "b", "c", "d", "b"]
    at_random = [
        each | ({"label": "none", "place": None} if not number % 10 else {}) for number, each in enumerate(STRICT)
    ]
    for number, image in enumerate(images * 2):
        at_random[10 * number + 5] |= {"label": image, "place": number % 4}
    assert find("low_agreement", at_random, **LEANING) is not None

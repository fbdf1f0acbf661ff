"""Human scores against hand computations and published intervals."""

from typing import Any

import pytest

from analytics.people import (
    Spread,
    answers_of,
    evidence_of,
    intraclass_correlation,
    score_of_people,
    share_interval,
    spread,
)


def test_every_person_counts_once_however_much_they_answered() -> None:
    # Ann 3 of 4, ben 1 of 2: (3/4 + 1/2) / 2.
    found = score_of_people([1, 1, 1, 0, 1, 0], list("aaaabb"), range(6))
    assert found.value == 0.625
    assert (found.n_people, found.n_questions, found.n_answers) == (2, 6, 6)
    # Sixteen questions, each answered by both: 13 and 15 of 16 right.
    right, people = [1] * 13 + [0] * 3 + [0] + [1] * 15, ["ann"] * 16 + ["ben"] * 16
    both = score_of_people(right, people, [*range(16)] * 2)
    assert (both.value, both.n_questions) == ((13 / 16 + 15 / 16) / 2, 16)
    # Answers may be right in part: the means .5 and 1 average to .75.
    part = score_of_people([0.75, 0.25, 1.0], ["ann", "ann", "ben"], [1, 2, 3])
    assert 0 <= (part.low or 0) < (part.value or 0) == 0.75 < (part.high or 0) <= 1


@pytest.mark.parametrize(
    ("answers", "people", "questions", "instances", "value", "reason"),
    [
        ([1] * 4, ["ann"] * 4, range(4), None, 1, "Only one person answered"),
        ([1, 0], ["ann", "ben"], [7, 7], None, 0.5, "Only one question was answered"),
        ([1, 0, 1, 1], list("aabb"), [1, 2, 1, 2], list("xxxx"), 0.75, "All answers are about one instance"),
        ([], [], [], None, None, "There is nothing to count."),
    ],
    ids=["one person", "one question", "one instance", "nothing"],
)
def test_too_little_says_nothing_about_others(
    answers: Any, people: Any, questions: Any, instances: Any, value: float | None, reason: str
) -> None:
    found = score_of_people(answers, people, questions, instances)
    assert (found.value, found.low, found.high, found.design_effect) == (value, None, None, None)
    assert (found.n_people, found.n_questions) == (len(set(people)), len(set(questions)))
    assert str(found.reason).startswith(reason)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_an_interval_does_not_collapse_where_all_are_right_or_wrong(value: float) -> None:
    # Five people, 25 questions each. Wilson's interval of n answers that are all right is n / (n + t^2) to 1, where t
    # with 4 degrees of freedom is 2.7764.
    found = score_of_people([value] * 125, [person for person in range(5) for _ in range(25)], range(125))
    low, high = found.low or 0, found.high or 0
    ends = (low, high) if value else (1 - high, 1 - low)
    assert ends == pytest.approx((125 / (125 + 2.7764451**2), 1))
    assert found.design_effect == 1


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_without_clusters_the_interval_is_wilsons(count: int, n: int, low: float, high: float) -> None:
    # Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3.
    assert share_interval(count / n, n, 1, 1e12) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("variance", "degrees", "n", "expected"),
    [
        # A share of .5 of 16 answers. 1/32 is the variance of eight single answers, 1/64 that of 16.
        (1 / 32, 19, 8, 19),
        (1 / 80, 19, 16, 19 * 1.25**2),
        (1 / 256, 19, 16, 19 * 19 / 5),
        (0.0, 10, 16, 20),
        # Four degrees are too few to believe that people are alike.
        (0.0, 4, 16, 4),
    ],
)
def test_less_variance_than_that_of_single_answers_is_chance_and_gets_more_degrees_of_freedom(
    variance: float, degrees: float, n: float, expected: float
) -> None:
    found = evidence_of(0.5, Spread(variance, degrees), 0.25, 16)
    assert (found.n, found.most, found.degrees) == pytest.approx((n, 16, expected))


def test_people_apart_are_worth_fewer_answers() -> None:
    # Means 1 and 1/2 over four questions each: variance .125 / 2 = 1/16 of the mean 3/4, whose single answers have
    # 3/16: worth 3 answers of 8. Between: 2 * 4 * .25^2 = .5; within 1 / 6; icc (.5 - 1/6) / (.5 + 3/6) = 1/3.
    found = score_of_people([1, 1, 1, 1, 1, 1, 0, 0], list("aaaabbbb"), range(8))
    assert found.design_effect == pytest.approx(8 / 3)
    assert found.icc == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("answers", "people", "questions", "instances", "variance", "degrees"),
    [
        # Both wrong on the same question of two: means 1/2, 1/2, so people vary by nothing; what they share varies by
        # 1/4 around a question's mean. Covariance of the means: 2 * (1/2 * 1/2 / 4) * 2 / 1 (one answer used up) = 1/4.
        ([1, 0, 1, 0], "aabb", [1, 2, 1, 2], None, 0.25, 1),
        ([1, 0, 1, 0], "aabb", [1, 2, 3, 4], None, 0, 1),
        # Both right on both questions about the first of two instances and wrong about the second. By question what a
        # person says lies 1/8 above or below their mean: products 1/4 - 1/8, four leave three: (4/3) (1/8) / 2 = 1/12.
        ([1, 1, 0, 0] * 2, "aaaabbbb", [1, 2, 3, 4] * 2, None, 1 / 12, 3),
        # By instance 1/4 above or below: products 1/2 - 1/4, two instances each leave one: 2 (1/4) / 2.
        ([1, 1, 0, 0] * 2, "aaaabbbb", [1, 2, 3, 4] * 2, list("xxyy") * 2, 1 / 4, 1),
    ],
    ids=["shared questions", "own questions", "by question", "by instance"],
)
def test_shared_questions_and_instances_add_what_people_have_in_common(
    answers: Any, people: str, questions: Any, instances: Any, variance: float, degrees: float
) -> None:
    found = spread(answers_of(answers, people, questions, instances))
    assert [found.variance, found.degrees] == pytest.approx([variance, degrees])


def test_answers_that_are_alike_by_person_correlate_by_one_and_against_it_by_minus_one() -> None:
    assert intraclass_correlation(answers_of([1, 1, 0, 0], list("aabb"), range(4))) == 1
    assert intraclass_correlation(answers_of([1, 0, 1, 0], list("aabb"), range(4))) == -1
    assert intraclass_correlation(answers_of([1, 0], list("ab"), range(2))) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: score_of_people([1, 0], ["ann", "ann"], [1, 1]), "twice"),
        (lambda: score_of_people([1, 0], ["ann"], [1, 2]), "Each answer has a person and a question"),
        (lambda: share_interval(1.1, 9, 1, 4), "share must be from 0 to 1"),
        (lambda: share_interval(0.5, 0, 1, 4), "share must be from 0 to 1"),
        (lambda: share_interval(0.5, 9, 0, 4), "share must be from 0 to 1"),
        *(
            (lambda wrong=wrong: score_of_people([1, wrong], ["ann", "ben"], [1, 2]), "neither true nor false")
            for wrong in (float("nan"), "False", None, 2)
        ),
    ],
)
def test_what_cannot_be_scored_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()

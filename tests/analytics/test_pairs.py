import pytest

from analytics.agreement import Coefficient, cohen_kappa
from analytics.pairs import mean_coefficient, pairs_within


def coefficient(value: float | None) -> Coefficient:
    return Coefficient(value, None if value is not None else "Unanimous.", 100, 100, 200, 2, 2)


def test_annotators_of_a_survey_are_paired_on_what_both_answered() -> None:
    answers = [
        *((1, "q1", "ann", "any"), (1, "q2", "ann", "none"), (1, "q3", "ann", "any")),
        *((1, "q3", "ben", "none"), (1, "q1", "ben", "any"), (2, "q4", "cleo", "any")),
    ]
    (pair,) = pairs_within(answers)
    assert (pair.group, pair.annotators) == (1, ("ann", "ben"))
    assert pair.ratings == [("any", "any"), ("any", "none")]


def test_three_annotators_of_a_survey_are_three_pairs() -> None:
    pairs = pairs_within([(1, "q1", person, "any") for person in ("ann", "ben", "cleo")])
    assert [pair.annotators for pair in pairs] == [("ann", "ben"), ("ann", "cleo"), ("ben", "cleo")]


def test_two_who_shared_the_seats_of_a_survey_but_no_question_are_no_pair() -> None:
    assert pairs_within([(1, "q1", "ann", "any"), (1, "q2", "ben", "any")]) == []


def test_the_same_two_in_two_surveys_are_paired_in_each() -> None:
    answers = [(survey, f"q{survey}", person, "any") for survey in (1, 2) for person in ("ann", "ben")]
    assert [pair.group for pair in pairs_within(answers)] == [1, 2]


def test_ratings_are_what_kappa_takes() -> None:
    # 20 both yes, 5 and 10 apart, 15 both no: .4, as in Cohen's formula by hand.
    table = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    answers = [(1, n, who, labels[place]) for n, labels in enumerate(table) for place, who in enumerate("ab")]
    (pair,) = pairs_within(answers)
    assert cohen_kappa(pair.ratings).value == pytest.approx(0.4)


def test_the_mean_of_the_five_published_kappas() -> None:
    mean = mean_coefficient([coefficient(value) for value in (0.66, 0.43, 0.56, 0.43, 0.38)])
    assert mean.value == pytest.approx(0.492)
    assert mean.n == 5


def test_an_undefined_kappa_is_left_out_of_the_mean_and_not_counted() -> None:
    assert mean_coefficient([coefficient(0.5), coefficient(None)]).n == 1
    assert mean_coefficient([coefficient(0.5), coefficient(None)]).value == pytest.approx(0.5)


@pytest.mark.parametrize("coefficients", [[], [coefficient(None)]])
def test_a_mean_of_nothing_is_undefined_with_a_reason(coefficients: list[Coefficient]) -> None:
    mean = mean_coefficient(coefficients)
    assert (mean.value, mean.n) == (None, 0)
    assert mean.reason

from typing import Any

import pytest

from analytics.agreement import Coefficient, cohen_kappa
from analytics.annotator_pairs import mean_coefficient, mean_of_pairs, pairs_within

# BiVLC, Table 7.
PUBLISHED = [0.66, 0.43, 0.56, 0.43, 0.38]


def coefficient(value: float | None, n: int = 100) -> Coefficient:
    return Coefficient(value, None if value is not None else "Unanimous.", n, n, 2 * n, 2, 2)


def test_annotators_of_a_survey_are_paired_on_what_both_answered() -> None:
    answers = [
        *((1, "q1", "ann", "any"), (1, "q2", "ann", "none"), (1, "q3", "ann", "any")),
        *((1, "q3", "ben", "none"), (1, "q1", "ben", "any"), (2, "q4", "cleo", "any")),
    ]
    (pair,) = pairs_within(answers)
    assert (pair.group, pair.annotators, pair.units) == (1, ("ann", "ben"), ["q1", "q3"])
    assert pair.ratings == [("any", "any"), ("any", "none")]


@pytest.mark.parametrize(
    ("answers", "pairs"),
    [
        ([(1, "q1", person, "any") for person in "abc"], [(1, ("a", "b")), (1, ("a", "c")), (1, ("b", "c"))]),
        # Two who shared the seats of a survey, but no question.
        ([(1, "q1", "a", "any"), (1, "q2", "b", "any")], []),
        (
            [(survey, f"q{survey}", person, "any") for survey in (1, 2) for person in "ab"],
            [(1, ("a", "b")), (2, ("a", "b"))],
        ),
    ],
    ids=["three people", "no question", "two surveys"],
)
def test_each_two_who_share_a_question_of_a_survey_are_a_pair(answers: Any, pairs: Any) -> None:
    assert [(pair.group, pair.annotators) for pair in pairs_within(answers)] == pairs


def test_ratings_are_what_kappa_takes() -> None:
    # 20 both yes, 5 and 10 apart, 15 both no: .4, as in Cohen's formula by hand.
    table = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    answers = [(1, n, who, labels[index]) for n, labels in enumerate(table) for index, who in enumerate("ab")]
    (pair,) = pairs_within(answers)
    assert cohen_kappa(pair.ratings).value == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("values", "mean", "n"), [(PUBLISHED, 0.492, 5), ([0.5, None], 0.5, 1), ([], None, 0), ([None], None, 0)]
)
def test_the_mean_leaves_undefined_coefficients_out(values: list[float | None], mean: float | None, n: int) -> None:
    found = mean_coefficient([coefficient(value) for value in values])
    assert found.value == pytest.approx(mean)
    assert found.n == n
    assert (found.reason is None) == (mean is not None)


def test_the_mean_of_pairs_has_an_interval_for_other_pairs() -> None:
    # Mean .492, standard deviation .11520; t(4) = 2.7764 times .11520 / sqrt(5) is .14303.
    found = mean_of_pairs([(survey, coefficient(value)) for survey, value in enumerate(PUBLISHED)])
    assert [found.value, found.n_pairs, found.n_groups] == pytest.approx([0.492, 5, 5])
    assert [found.low, found.high] == pytest.approx([0.34897, 0.63503], abs=5e-6)


def test_pairs_of_few_questions_and_unanimous_ones_are_left_out_of_the_mean_with_their_number_said() -> None:
    # Two shared 12 questions; a third who left after 3, and a fourth who took over for 6, come to 0, 0 and .33.
    small = [(1, coefficient(0.0, 3)), (1, coefficient(0.0, 3)), (2, coefficient(1 / 3, 6))]
    found = mean_of_pairs([(1, coefficient(0.5, 12)), *small, (2, coefficient(None, 24)), (2, coefficient(0.7, 10))])
    assert [found.value, found.n_pairs, found.n_small] == pytest.approx([0.6, 2, 3])
    assert (found.n_undefined, found.undefined_units) == (1, 24)


def test_pairs_of_one_survey_share_people_and_have_no_interval() -> None:
    found = mean_of_pairs([(1, coefficient(0.5)), (1, coefficient(0.7))])
    assert found.value == pytest.approx(0.6)
    assert (found.low, found.reason) == (None, None)
    assert str(found.no_interval).endswith("needs 5 surveys with a pair, and there is 1.")


def test_pairs_of_a_survey_stand_together_in_the_interval() -> None:
    # Surveys with .4 and .6, with .8 and 1, and three of one pair with .7: mean .7, sums of distances -.4, .4 and 0;
    # sqrt(5 / 4 * .32) / 7 = .0903508, and t(4) = 2.7764451 times that is .2508540.
    pairs = [(1, 0.4), (1, 0.6), (2, 0.8), (2, 1.0), (3, 0.7), (4, 0.7), (5, 0.7)]
    found = mean_of_pairs([(survey, coefficient(value)) for survey, value in pairs])
    assert [found.value, found.low, found.high] == pytest.approx([0.7, 0.4491460, 0.9508540], abs=5e-7)


def test_pairs_of_few_surveys_have_no_interval() -> None:
    found = mean_of_pairs([(survey, coefficient(value)) for survey, value in enumerate(PUBLISHED[:4])])
    assert found.value == pytest.approx(0.52)
    assert (found.low, found.high) == (None, None)
    needs = "Too few pairs: an interval for other pairs needs 5 surveys with a pair, and there are 4."
    assert found.no_interval == needs


def test_without_a_pair_that_answered_enough_there_is_no_mean() -> None:
    found = mean_of_pairs([(1, coefficient(0.5, 9))])
    assert (found.value, found.reason) == (None, "No pair answered 10 questions together.")

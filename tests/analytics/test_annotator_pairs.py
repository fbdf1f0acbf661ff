import pytest

from analytics.agreement import Coefficient, cohen_kappa
from analytics.annotator_pairs import mean_coefficient, mean_of_pairs, pairs_within


def coefficient(value: float | None, n: int = 100) -> Coefficient:
    return Coefficient(value, None if value is not None else "Unanimous.", n, n, 2 * n, 2, 2)


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
    answers = [(1, n, who, labels[index]) for n, labels in enumerate(table) for index, who in enumerate("ab")]
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


def test_the_mean_of_pairs_has_an_interval_for_other_pairs() -> None:
    # BiVLC, Table 7: mean .492, standard deviation .11520; t(4) = 2.7764 times .11520 / sqrt(5) is .14303.
    found = mean_of_pairs([(survey, coefficient(value)) for survey, value in enumerate([0.66, 0.43, 0.56, 0.43, 0.38])])
    assert [found.value, found.n_pairs, found.n_groups] == pytest.approx([0.492, 5, 5])
    assert [found.low, found.high] == pytest.approx([0.34897, 0.63503], abs=5e-6)


def test_a_seat_given_up_halfway_makes_no_pairs_that_count() -> None:
    # Two shared 12 questions; a third who left after 3, and a fourth who took over for 6, come to 0, 0 and .33.
    pairs = [
        (1, coefficient(0.5, 12)),
        (1, coefficient(0.0, 3)),
        (1, coefficient(0.0, 3)),
        (2, coefficient(1 / 3, 6)),
        (2, coefficient(0.7, 12)),
    ]
    found = mean_of_pairs(pairs)
    assert [found.value, found.n_pairs, found.n_small] == pytest.approx([0.6, 2, 3])


def test_a_unanimous_pair_is_left_out_of_the_mean_with_its_number_said() -> None:
    found = mean_of_pairs([(1, coefficient(0.5)), (2, coefficient(None, 24)), (3, coefficient(0.7))])
    assert [found.value, found.n_undefined, found.undefined_units] == pytest.approx([0.6, 1, 24])


def test_pairs_of_one_survey_share_people_and_have_no_interval() -> None:
    found = mean_of_pairs([(1, coefficient(0.5)), (1, coefficient(0.7))])
    assert found.value == pytest.approx(0.6)
    assert (found.low, found.reason) == (None, None)
    assert found.no_interval is not None


def test_pairs_of_a_survey_stand_together_in_the_interval() -> None:
    # Surveys with .4 and .6, and with .8 and 1: mean .7, sums of distances -.4 and .4; sqrt(2 / 1 * .32) / 4 = .2, and
    # t(1) = 12.7062 times that leaves the scale on both sides.
    found = mean_of_pairs([(1, coefficient(0.4)), (1, coefficient(0.6)), (2, coefficient(0.8)), (2, coefficient(1.0))])
    assert [found.value, found.low, found.high] == pytest.approx([0.7, -1, 1])


def test_without_a_pair_that_answered_enough_there_is_no_mean() -> None:
    found = mean_of_pairs([(1, coefficient(0.5, 9))])
    assert (found.value, found.reason) == (None, "No pair answered 10 questions together.")

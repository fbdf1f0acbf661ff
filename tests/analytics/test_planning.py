"""Expected intervals against hand computations, and against what studies of that size come to."""

import numpy as np
import pytest

from analytics.people import share_interval
from analytics.planning import expected_alpha, expected_share
from benchmarks.coverage import Design, coverage_of_scores


def test_without_clusters_it_is_the_interval_of_as_many_answers() -> None:
    # 20 people with 25 questions: 450 of 500, with the 19 degrees of freedom of 20 people.
    found = expected_share(20, 25, share=0.9, icc=0)
    assert (found.low, found.high) == share_interval(0.9, 500, 1, 19)


def test_people_and_questions_that_are_alike_cost_answers() -> None:
    # 5 people with 100 questions that 5 answer: 1 + 99 x .05 + 4 x .1 = 6.35 answers tell as much as one.
    found = expected_share(5, 100, 5, share=0.9, icc=0.05, icc_of_questions=0.1)
    assert [found.low, found.high] == pytest.approx(share_interval(0.9, 500, 6.35, 4))


def test_the_width_to_expect_is_the_width_that_comes() -> None:
    # People whose shares of .75 have an ICC of .04: a logit spread of about sqrt(.04 / (.75 x .25)) = .46.
    design = Design(20, 50, 0.46, 0.0, 0.75, same=False)
    _, width = coverage_of_scores(design, 200, np.random.default_rng(3))
    assert expected_share(20, 50, share=0.75, icc=0.04).width == pytest.approx(width, rel=0.1)


def test_one_person_will_tell_nothing_of_others() -> None:
    found = expected_share(1, 100)
    assert (found.width, found.reason) == (
        None,
        "One person answered, and what one person does says nothing about others.",
    )


def test_four_times_the_questions_halve_the_width_of_an_agreement() -> None:
    narrow, wide = expected_alpha(1600, 2).width, expected_alpha(400, 2).width
    assert narrow is not None
    assert wide is not None
    assert narrow == pytest.approx(wide / 2, rel=0.1)


def test_the_agreement_to_expect_lies_in_its_interval() -> None:
    found = expected_alpha(400, 3, alpha=0.6)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.6 < found.high


def test_agreement_takes_two_answers() -> None:
    assert expected_alpha(100, 1).reason == "Agreement takes two answers to a question."


@pytest.mark.parametrize(("people", "each", "icc"), [(0, 5, 0.1), (5, 0, 0.1), (5, 5, 0.95)])
def test_a_study_that_cannot_be_is_refused(people: int, each: int, icc: float) -> None:
    with pytest.raises(ValueError, match="Not"):
        expected_share(people, each, icc=icc)


@pytest.mark.parametrize(("alpha", "rare"), [(1.1, 0.2), (0.5, 0.7), (0.5, 0)])
def test_an_agreement_that_cannot_be_is_refused(alpha: float, rare: float) -> None:
    with pytest.raises(ValueError, match="Not"):
        expected_alpha(100, 2, alpha=alpha, rare=rare)

"""Expected intervals against hand computations, and against what studies of that size come to."""

import numpy as np
import pytest

from analytics.intervals.expected_widths import approximate_width, expected_alpha, expected_share
from benchmarks.coverage import Design, coverage_of_scores


def test_without_clusters_it_is_nearly_the_interval_of_as_many_answers() -> None:
    # 20 people with 25 questions: 450 of 500. What they are like is estimated from 20, so that it is a little wider
    # than Wilson's 0.871 to 0.923.
    found = expected_share(20, 25, share=0.9, icc=0, icc_of_questions=0)
    assert [found.low, found.high] == pytest.approx([0.871, 0.923], abs=0.006)
    assert (found.width or 0) > 0.052


@pytest.mark.parametrize(("people", "each"), [(3, 25), (3, 100), (5, 25), (5, 100), (20, 50)])
@pytest.mark.parametrize("same", [False, True])
def test_the_width_to_expect_is_the_width_that_comes(people: int, each: int, same: bool) -> None:
    # A logit spread of .73 around 9 of 10 is an ICC of .05. Spreads of .85 and 1.15 together are ICCs of .05 and .1.
    ability, difficulty = (0.849, 1.145) if same else (0.732, 0.0)
    design = Design(people, each, ability, difficulty, 0.9, same=same)
    _, width, _ = coverage_of_scores(design, 300, np.random.default_rng(3))
    planned = expected_share(people, each, people if same else 1, icc=0.05, icc_of_questions=0.1 if same else 0)
    assert planned.width == pytest.approx(width, rel=0.15)


@pytest.mark.parametrize("people", [3, 20])
@pytest.mark.parametrize(
    ("icc", "icc_of_questions", "ability", "difficulty"), [(0.3, 0.0, 2.682, 0.0), (0.05, 0.1, 1.403, 1.777)]
)
def test_the_width_to_expect_near_1_is_the_width_that_comes(
    people: int, icc: float, icc_of_questions: float, ability: float, difficulty: float
) -> None:
    # 97 of 100 are right, and answers of one person are much alike: then widths vary by a half from data set to data
    # set. Spreads are those that make answers so alike.
    design = Design(people, 50, ability, difficulty, 0.97, same=difficulty > 0)
    _, width, _ = coverage_of_scores(design, 800, np.random.default_rng(3))
    planned = expected_share(
        people, 50, people if difficulty else 1, share=0.97, icc=icc, icc_of_questions=icc_of_questions
    )
    assert planned.width == pytest.approx(width, rel=0.15)


@pytest.mark.parametrize("seed", range(4))
def test_the_width_to_expect_hardly_depends_on_the_draw(seed: int) -> None:
    # 20 data sets of 5,000 answers were too few: widths came out up to a third apart.
    options = {"share": 0.97, "icc": 0.3, "icc_of_questions": 0.0}
    planned = expected_share(20, 250, **options, seed=seed).width
    assert planned == pytest.approx(expected_share(20, 250, **options).width, rel=0.1)


def test_several_questions_about_an_instance_tell_less_than_questions_about_as_many() -> None:
    apart, together = expected_share(20, 100, 20), expected_share(20, 100, 20, per_instance=4)
    assert (together.width or 0) > 1.2 * (apart.width or 1)


def test_one_person_and_one_answer_to_a_question_will_tell_nothing() -> None:
    found = expected_share(1, 100)
    assert (found.width, str(found.reason)[:19]) == (None, "Only one person ans")
    assert expected_alpha(100, 1).reason == "Agreement needs two answers to a question."


@pytest.mark.parametrize(
    ("questions", "reason"),
    [
        (19, "Fewer than 20 questions: too few for a reliable interval."),
        # Both give the rarer label in .6 * .2 + .4 * .04 = .136 of 20 questions, so 3 times, and one of the two in .128
        # of them, so twice: 8 of 40 answers.
        (20, "Fewer than 10 answers differ from the commonest one: too few for a reliable interval."),
        (40, None),
    ],
)
def test_no_agreement_is_expected_that_results_would_leave_out(questions: int, reason: str | None) -> None:
    found = expected_alpha(questions, 2, alpha=0.6, rare=0.2)
    assert (found.reason, found.width is None) == (reason, reason is not None)


def test_four_times_the_questions_halve_the_width_of_an_agreement() -> None:
    narrow, wide = (expected_alpha(questions, 2).width or 0 for questions in (1600, 400))
    assert 0 < narrow == pytest.approx(wide / 2, rel=0.1)


def test_the_agreement_to_expect_lies_in_its_interval() -> None:
    found = expected_alpha(400, 3, alpha=0.6)
    assert (found.low or 1) < 0.6 < (found.high or 0)


@pytest.mark.parametrize(("people", "each", "icc"), [(0, 5, 0.1), (5, 0, 0.1), (5, 5, 0.95)])
def test_a_study_that_cannot_be_is_refused(people: int, each: int, icc: float) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        expected_share(people, each, icc=icc)


@pytest.mark.parametrize(
    ("people", "each", "answers", "per_instance"), [(20, 25, 1, 1), (30, 10, 2, 1), (50, 20, 1, 4)]
)
def test_the_formula_is_near_the_simulation(people: int, each: int, answers: int, per_instance: int) -> None:
    simulated = expected_share(people, each, answers, per_instance=per_instance).width
    assert approximate_width(people, each, answers, per_instance=per_instance) == pytest.approx(simulated, rel=0.1)

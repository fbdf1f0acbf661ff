"""How questions are dealt into surveys."""

from collections import Counter

import pytest

from studies.survey_plan import CannotPlan, plan_surveys


def test_bivlc_step_3_is_dealt_as_the_paper_did() -> None:
    # 7,512 = 5 x 100 twice answered + 7,012 over 70 surveys: 58 of 100 and 12 of 101.
    planned = plan_surveys(range(7512), size=100, answers=1, double_seats=5, seed="bivlc")
    assert Counter((len(survey.items), survey.seats) for survey in planned) == {(100, 2): 5, (100, 1): 58, (101, 1): 12}


def test_every_question_is_in_exactly_one_survey() -> None:
    planned = plan_surveys(range(103), size=10, answers=3, double_seats=2, seed="x")
    dealt = [question for survey in planned for question in survey.items]
    assert sorted(dealt) == list(range(103))
    assert [survey.seats for survey in planned[:3]] == [6, 6, 3]


def test_the_seed_decides_alone() -> None:
    first, again, other = (plan_surveys(range(50), size=10, answers=1, double_seats=0, seed=seed) for seed in "aab")
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("questions", "size", "sizes"),
    [(1, 100, [1]), (12, 100, [12]), (149, 100, [149]), (151, 100, [75, 76]), (4, 2, [2, 2])],
)
def test_sizes_are_as_near_to_the_wanted_one_as_they_can_be(questions: int, size: int, sizes: list[int]) -> None:
    planned = plan_surveys(range(questions), size=size, answers=1, double_seats=0, seed="x")
    assert sorted(len(survey.items) for survey in planned) == sizes


@pytest.mark.parametrize(
    ("questions", "double_seats", "sentence"), [(0, 0, "no questions to ask"), (19, 2, "need 20 instances")]
)
def test_too_few_questions_are_refused_with_a_sentence(questions: int, double_seats: int, sentence: str) -> None:
    with pytest.raises(CannotPlan, match=sentence):
        plan_surveys(range(questions), size=10, answers=1, double_seats=double_seats, seed="x")


@pytest.mark.parametrize(("size", "answers"), [(0, 1), (1, 0)])
def test_nonsense_sizes_are_errors_of_the_caller(size: int, answers: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        plan_surveys(range(10), size=size, answers=answers, double_seats=0, seed="x")

from dataclasses import replace

import pytest

from annotation.rejection_rules import Rejection, rejection_problems

# 100 characters.
MESSAGE = "Thank you for taking part. Two of the three clearly marked instruction checks were answered wrongly."
ALLOWED = Rejection(
    category="FAILED_CHECK",
    message=MESSAGE,
    failed_checks=2,
    is_looked_at=False,
    is_finished=True,
    has_failed_practice=False,
    answers=20,
)


def test_two_failed_attention_checks_allow_it() -> None:
    assert len(MESSAGE) == 100
    assert rejection_problems(ALLOWED) == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"category": ""}, "Choose a category."),
        ({"category": "MALINGERING"}, "Choose a category."),
        ({"message": MESSAGE[:99]}, "The message needs at least 100 characters. It has 99."),
        ({"message": MESSAGE[:50] + " " * 60}, "The message needs at least 100 characters. It has 50."),
        (
            {"message": f"{MESSAGE[:40]}{' ' * 60}{MESSAGE[41:60]}"},
            "The message needs at least 100 characters. It has 60.",
        ),
        ({"is_let_go": True}, "This person did not consent, or had nothing to answer"),
        ({"category": "BAD_CODE", "is_finished": False, "is_let_go": True}, "This person did not consent"),
        ({"failed_checks": 1}, "At least 2 attention checks must have failed. Failed instruction checks: 1."),
        ({"has_failed_practice": True}, "Prolific does not allow you to reject people who failed the practice."),
        ({"category": "LOW_EFFORT"}, "A mark alone is no reason to reject."),
        (
            {"category": "OTHER", "marks": ["Unlikely times"]},
            "A mark alone (Unlikely times) is no reason to reject. Check the answers",
        ),
        ({"category": "NO_DATA"}, "This person gave 20 answers here, so this category does not fit."),
        ({"category": "NO_DATA", "is_finished": False}, "This person gave 20 answers here"),
        ({"category": "NO_CODE"}, "This person gave 20 answers here"),
        ({"category": "TOO_QUICKLY"}, "Speed is a reason only after 10 sessions have finished."),
    ],
)
def test_each_rule_has_a_sentence(changes: dict[str, object], problem: str) -> None:
    [said] = rejection_problems(replace(ALLOWED, **changes))  # type: ignore[arg-type]
    assert said.startswith(problem)


@pytest.mark.parametrize(
    "changes",
    [
        {"category": "LOW_EFFORT", "is_looked_at": True},
        {"category": "NO_DATA", "is_finished": False, "answers": 0},
        {"category": "NO_CODE", "is_finished": False},
    ],
)
def test_other_grounds_than_a_mark_allow_it(changes: dict[str, object]) -> None:
    assert rejection_problems(replace(ALLOWED, **changes)) == []  # type: ignore[arg-type]


def test_only_a_time_of_three_standard_deviations_below_the_mean_is_too_fast() -> None:
    # Mean 600; squares of 5 times 100 each way over 9: the standard deviation is 105.41, so the limit is 283.77.
    others = [500.0] * 5 + [700.0] * 5
    fast = replace(ALLOWED, category="TOO_QUICKLY", others=others)
    assert rejection_problems(replace(fast, seconds=283.0)) == []
    [said] = rejection_problems(replace(fast, seconds=285.0))
    assert said == (
        "This session took 285 s. Only one under 284 s may be rejected for its time: 3 standard deviations below the "
        "mean of 600 s."
    )

"""Acceptance rules. Expected verdicts are worked out by hand from the rules' definitions."""

import pytest

from analytics.acceptance import RULES, State, decide

CASES = [
    ([], 1, State.UNDECIDED, None),
    (["a"], 1, State.ACCEPTED, "a"),
    (["none"], 1, State.REJECTED, None),
    (["a"], 2, State.UNDECIDED, None),
    (["a", "a"], 2, State.ACCEPTED, "a"),
    (["a", "b"], 2, State.UNDECIDED, None),
    (["a", "none"], 2, State.UNDECIDED, None),
    (["none", "none"], 2, State.REJECTED, None),
    (["a", "a"], 3, State.ACCEPTED, "a"),
    (["a", "b"], 3, State.UNDECIDED, None),
    (["b", "a", "a"], 3, State.ACCEPTED, "a"),
    (["a", "b", "c"], 3, State.UNDECIDED, None),
    (["none", "a", "none"], 3, State.REJECTED, None),
    (["a", "a", "b", "b"], 3, State.UNDECIDED, None),
    (["a", "a", "a", "b", "b"], 3, State.ACCEPTED, "a"),
]


@pytest.mark.parametrize("rule", ["chosen-v1", "majority-v1"])
@pytest.mark.parametrize(("answers", "wanted", "state", "winner"), CASES)
def test_the_verdict_is_the_strict_majority_of_the_answers_wanted(
    rule: str, answers: list[str], wanted: int, state: State, winner: str | None
) -> None:
    verdict = decide(rule, answers, wanted)
    assert (verdict.state, verdict.winner) == (state, winner)
    assert verdict.reason.endswith(".")


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_the_answers_does_not_matter(rule: str) -> None:
    assert decide(rule, ["a", "b", "a"], 3) == decide(rule, ["b", "a", "a"], 3)


def test_a_question_that_wants_no_answer_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        decide("majority-v1", [], 0)


def test_an_unknown_rule_is_an_error() -> None:
    with pytest.raises(KeyError):
        decide("majority-v0", ["a"], 1)

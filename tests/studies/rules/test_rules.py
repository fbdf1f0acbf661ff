"""Acceptance rules. Expected verdicts are worked out by hand from the rules' definitions."""

import pytest

from studies.rules import RULES, State, Verdict, Vote, VoteContext
from studies.rules import decide as decide_given


def decide(rule: str, labels: list[str], wanted: int) -> Verdict:
    return decide_given(rule, VoteContext(wanted), [Vote(label) for label in labels])


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


@pytest.mark.parametrize(
    ("answers", "wanted", "state", "winner"),
    [
        ([], 1, State.UNDECIDED, None),
        (["original"], 1, State.ACCEPTED, "original"),
        (["generated"], 1, State.REJECTED, None),
        (["both"], 1, State.REJECTED, None),
        (["original", "both"], 2, State.UNDECIDED, None),
        (["both", "generated"], 2, State.REJECTED, None),
        (["original"], 3, State.UNDECIDED, None),
        (["original", "original"], 3, State.ACCEPTED, "original"),
        (["both", "original", "generated"], 3, State.REJECTED, None),
        (["both", "generated"], 3, State.REJECTED, None),
        (["original", "both", "original", "both"], 3, State.UNDECIDED, None),
        (["original", "both", "original", "both", "original"], 3, State.ACCEPTED, "original"),
    ],
)
def test_an_instance_is_unambiguous_when_most_answers_wanted_find_the_original_image(
    answers: list[str], wanted: int, state: State, winner: str | None
) -> None:
    verdict = decide("unambiguous-v1", answers, wanted)
    assert (verdict.state, verdict.winner) == (state, winner)
    assert verdict.reason.endswith(".")


@pytest.mark.parametrize(
    ("answers", "wanted", "state", "winner"),
    [
        ([], 1, State.UNDECIDED, None),
        (["original"], 1, State.ACCEPTED, "original"),
        (["generated"], 1, State.REJECTED, None),
        (["both"], 1, State.REJECTED, None),
        (["both", "generated"], 2, State.REJECTED, None),
        (["original", "both"], 2, State.UNDECIDED, None),
        (["both", "original", "generated"], 3, State.REJECTED, None),
        (["original", "other", "both"], 3, State.UNDECIDED, None),
        (["other", "other", "both"], 3, State.ACCEPTED, "other"),
        # A kind may count "none" as an answer like any other.
        (["none", "none", "both"], 3, State.ACCEPTED, "none"),
        (["original", "both", "original", "both"], 3, State.UNDECIDED, None),
        (["original", "both", "generated", "both", "original"], 3, State.REJECTED, None),
    ],
)
def test_majority_v2_counts_the_answers_that_reject_together(
    answers: list[str], wanted: int, state: State, winner: str | None
) -> None:
    asked = VoteContext(wanted, rejecting=frozenset({"generated", "both"}))
    verdict = decide_given("majority-v2", asked, [Vote(label) for label in answers])
    assert (verdict.state, verdict.winner) == (state, winner)
    if state is State.REJECTED:
        rejecting = len(answers) - answers.count("original")
        assert verdict.reason == f"{rejecting} of {max(wanted, len(answers))} answers reject it."


@pytest.mark.parametrize(("answers", "wanted", "state", "winner"), CASES)
def test_majority_v2_decides_as_v1_where_none_is_the_only_option_that_rejects(
    answers: list[str], wanted: int, state: State, winner: str | None
) -> None:
    asked = VoteContext(wanted, rejecting=frozenset({"none"}))
    verdict = decide_given("majority-v2", asked, [Vote(label) for label in answers])
    assert (verdict.state, verdict.winner) == (state, winner)


def test_a_rejection_counts_the_answers_that_missed_the_original_image() -> None:
    assert decide("unambiguous-v1", ["both", "generated"], 3).reason == (
        "2 of 3 answers did not tell the original image apart."
    )


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_the_answers_does_not_matter(rule: str) -> None:
    assert decide(rule, ["a", "b", "a"], 3) == decide(rule, ["b", "a", "a"], 3)


def test_a_question_that_wants_no_answer_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        decide("majority-v1", [], 0)


def test_an_unknown_rule_is_an_error() -> None:
    with pytest.raises(KeyError):
        decide("majority-v0", ["a"], 1)

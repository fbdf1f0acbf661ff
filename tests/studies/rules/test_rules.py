"""Acceptance rules. Expected verdicts are worked out by hand from the rules' definitions."""

from collections.abc import Sequence

import pytest

from studies.kinds import get_kind, usual_ask
from studies.rules import RULES, Needs, State, Verdict, Vote, VoteContext, decide, misfit

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


ORIGINAL = [
    ([], 1, State.UNDECIDED, None),
    (["original"], 1, State.ACCEPTED, "original"),
    (["generated"], 1, State.REJECTED, None),
    (["both"], 1, State.REJECTED, None),
    (["original", "both"], 2, State.UNDECIDED, None),
    (["both", "generated"], 2, State.REJECTED, None),
    (["both", "original", "generated"], 3, State.REJECTED, None),
    (["original", "both", "original", "both"], 3, State.UNDECIDED, None),
]
UNAMBIGUOUS = [
    *ORIGINAL,
    (["original"], 3, State.UNDECIDED, None),
    (["original", "original"], 3, State.ACCEPTED, "original"),
    (["both", "generated"], 3, State.REJECTED, None),
    (["original", "both", "original", "both", "original"], 3, State.ACCEPTED, "original"),
]
MAJORITY_V2 = [
    *ORIGINAL,
    (["original", "other", "both"], 3, State.UNDECIDED, None),
    (["other", "other", "both"], 3, State.ACCEPTED, "other"),
    # A kind may count "none" as an answer like any other.
    (["none", "none", "both"], 3, State.ACCEPTED, "none"),
    (["original", "both", "generated", "both", "original"], 3, State.REJECTED, None),
]
NONE, NOT_ORIGINAL = frozenset({"none"}), frozenset({"generated", "both"})


@pytest.mark.parametrize(
    ("rule", "rejecting", "answers", "wanted", "state", "winner"),
    [
        *(("chosen-v1", NONE, *case) for case in CASES),
        *(("majority-v1", NONE, *case) for case in CASES),
        # It decides as v1 where "none" is the only option that rejects.
        *(("majority-v2", NONE, *case) for case in CASES),
        *(("majority-v2", NOT_ORIGINAL, *case) for case in MAJORITY_V2),
        *(("unambiguous-v1", NOT_ORIGINAL, *case) for case in UNAMBIGUOUS),
    ],
)
def test_the_verdict_is_the_strict_majority_of_the_answers_wanted(
    rule: str, rejecting: frozenset[str], answers: list[str], wanted: int, state: State, winner: str | None
) -> None:
    verdict = decide(rule, VoteContext(wanted, rejecting=rejecting), [Vote(label) for label in answers])
    assert (verdict.state, verdict.winner) == (state, winner)
    assert verdict.reason.endswith(".")


@pytest.mark.parametrize(
    ("rule", "wanted", "answers", "reason"),
    [
        ("chosen-v1", 1, [], "No answer yet."),
        ("chosen-v1", 1, ["a"], "The only answer chose it."),
        ("chosen-v1", 1, ["none"], "The only answer says that no option fits."),
        ("chosen-v1", 2, ["a"], "1 of 2 answers still to come."),
        ("chosen-v1", 2, ["a", "b"], "No option was chosen by more than half of the 2 answers."),
        ("chosen-v1", 3, ["a", "a"], "2 of 3 answers chose it."),
        ("majority-v2", 3, ["both", "generated", "original"], "2 of 3 answers reject it."),
        ("majority-v2", 1, ["both"], "The only answer rejects it."),
        ("unambiguous-v1", 1, ["both"], "The only answer did not identify the original image."),
        ("unambiguous-v1", 3, ["both", "generated"], "2 of 3 answers did not identify the original image."),
        ("collected-v1", 3, ["a"], "2 of 3 answers still to come."),
        ("retrieved-1-of-1-v1", 1, [], "No answer yet."),
        ("retrieved-1-of-1-v1", 1, ["t"], "The only answer found it."),
        ("retrieved-1-of-1-v1", 1, ["x"], "The only answer did not find it."),
        ("retrieved-2-of-3-v1", 2, ["x"], "The only answer did not find it; 2 of 3 have to find it."),
        ("retrieved-2-of-3-v1", 2, ["x", "t"], "1 of 2 answers found it; 2 of 3 have to."),
        ("retrieved-2-of-3-v1", 3, ["x", "t", "x"], "1 of 3 answers found it; 2 of 3 had to."),
    ],
)
def test_the_reason_says_what_the_answers_were(rule: str, wanted: int, answers: list[str], reason: str) -> None:
    asked = VoteContext(wanted, right="t", rejecting=NOT_ORIGINAL)
    assert decide(rule, asked, [Vote(label) for label in answers]).reason == reason


@pytest.mark.parametrize("rule", RULES)
def test_a_question_that_wants_no_answer_is_an_error(rule: str) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        decide(rule, VoteContext(0, right="t"), [])


def test_an_unknown_rule_is_an_error() -> None:
    with pytest.raises(KeyError):
        decide("majority-v0", VoteContext(1), [Vote("a")])


class TwoAlike:
    """Accepts at two equal answers, whatever they say, and rejects by none."""

    name, needs = "two-alike-v1", Needs(one_label=True)

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        if len(answers) < 2:
            return Verdict(State.UNDECIDED, None, "Two answers are needed.", more=True)
        return Verdict(State.ACCEPTED, answers[0].label, "They agree.")


class TwoNeeded(TwoAlike):
    """Rejects at two equal answers, whatever they say."""

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        verdict = super().decide(asked, answers)
        return Verdict(State.REJECTED, None, verdict.reason) if verdict.winner else verdict


def test_a_rule_that_decides_by_several_answers_only_is_tried_with_several() -> None:
    best = get_kind("best_of_n")
    said = misfit(TwoAlike(), best, usual_ask(best))
    assert said == "would accept an instance by the answer none, which rejects it in best_of_n"
    either = get_kind("ambiguity")
    said = misfit(TwoNeeded(), either, usual_ask(either))
    assert said == "would reject an instance by the answer original, which does not reject it in ambiguity"

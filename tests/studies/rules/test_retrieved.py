"""The rules `retrieved-1-of-1-v1` and `retrieved-2-of-3-v1`. Verdicts are worked out by hand from what their names say:
"t" is the image described, and every other letter another one."""

import pytest

from studies.rules import State, Vote, VoteContext, decide

U, A, R = State.UNDECIDED, State.ACCEPTED, State.REJECTED


@pytest.mark.parametrize(
    ("rule", "answers", "state", "more"),
    [
        ("retrieved-1-of-1-v1", "", U, True),
        ("retrieved-1-of-1-v1", "t", A, False),
        ("retrieved-1-of-1-v1", "a", R, False),
        # More than were asked for: the strict majority, whatever came first.
        ("retrieved-1-of-1-v1", "at", U, True),
        ("retrieved-1-of-1-v1", "tat", A, False),
        ("retrieved-1-of-1-v1", "tab", R, False),
        ("retrieved-2-of-3-v1", "", U, True),
        ("retrieved-2-of-3-v1", "t", U, True),
        ("retrieved-2-of-3-v1", "a", U, True),
        ("retrieved-2-of-3-v1", "tt", A, False),
        # Two different wrong images are two misses: a third answer could not save it.
        ("retrieved-2-of-3-v1", "ab", R, False),
        ("retrieved-2-of-3-v1", "aa", R, False),
        ("retrieved-2-of-3-v1", "ta", U, True),
        ("retrieved-2-of-3-v1", "at", U, True),
        ("retrieved-2-of-3-v1", "tat", A, False),
        ("retrieved-2-of-3-v1", "ata", R, False),
        ("retrieved-2-of-3-v1", "tab", R, False),
        ("retrieved-2-of-3-v1", "attb", U, True),
        ("retrieved-2-of-3-v1", "abtt", U, True),
        ("retrieved-2-of-3-v1", "attbt", A, False),
        ("retrieved-2-of-3-v1", "abtbt", R, False),
    ],
)
def test_it_is_decided_as_soon_as_it_is_sure(rule: str, answers: str, state: State, more: bool) -> None:
    verdict = decide(rule, VoteContext(wanted=1, most=3, right="t"), [Vote(letter) for letter in answers])
    assert (verdict.state, verdict.winner, verdict.more) == (state, "t" if state is A else None, more)
    assert verdict.reason.endswith(".")


@pytest.mark.parametrize("rule", ["retrieved-1-of-1-v1", "retrieved-2-of-3-v1"])
def test_where_no_answer_is_known_to_be_right_it_stays_undecided_and_asks_nobody(rule: str) -> None:
    verdict = decide(rule, VoteContext(wanted=1), [Vote("a"), Vote("a"), Vote("b")])
    assert (verdict.state, verdict.winner, verdict.more) == (U, None, False)


def test_where_more_answers_are_wanted_than_its_name_says_most_of_them_decide() -> None:
    asked = VoteContext(wanted=3, right="t")
    assert decide("retrieved-1-of-1-v1", asked, [Vote("t")]).state is U
    assert decide("retrieved-1-of-1-v1", asked, [Vote("t"), Vote("t")]).state is A
    assert decide("retrieved-1-of-1-v1", asked, [Vote("a"), Vote("t"), Vote("b")]).state is R

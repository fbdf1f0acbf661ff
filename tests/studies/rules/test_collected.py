"""The rule `collected-v1`."""

from studies.rules import State, Vote, VoteContext, decide


def test_a_collected_question_is_accepted_without_a_winner_once_its_answers_are_there() -> None:
    first = decide("collected-v1", VoteContext(wanted=2), [Vote("4")])
    assert (first.state, first.more) == (State.UNDECIDED, True)
    both = decide("collected-v1", VoteContext(wanted=2), [Vote("4"), Vote("1")])
    assert (both.state, both.winner) == (State.ACCEPTED, None)

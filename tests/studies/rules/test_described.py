"""`described-v1`: what follows for a question from what became of its answers in the studies that asked about them."""

from itertools import permutations

import pytest

from studies.rules import State, Vote, VoteContext, decide

OPEN, YES, NO = State.UNDECIDED, State.ACCEPTED, State.REJECTED
NEW = Vote("", {"text": "Nobody was asked about it yet."})
WAITS = Vote("", {"text": "Others are looking."}, (OPEN,))
FOUND = Vote("", {"text": "Others found it."}, (YES,))
MISSED = Vote("", {"text": "Others did not find it."}, (NO,))
ONE_OF_TWO = Vote("", {"text": "Two studies asked."}, (NO, YES))
STILL_OPEN = Vote("", {"text": "Two studies ask."}, (NO, OPEN))
NOT_POSSIBLE = Vote("", {"not_possible": True}, (), is_source=False)


@pytest.mark.parametrize(
    ("wanted", "most", "answers", "state", "more"),
    [
        (1, 3, [], OPEN, True),
        (1, 3, [NEW], OPEN, False),
        (1, 3, [WAITS], OPEN, False),
        (1, 3, [FOUND], YES, False),
        (1, 3, [MISSED], OPEN, True),
        (1, 3, [NOT_POSSIBLE], OPEN, True),
        (1, 1, [MISSED], NO, False),
        (1, 1, [NOT_POSSIBLE], NO, False),
        (1, 3, [ONE_OF_TWO], YES, False),
        (1, 3, [STILL_OPEN], OPEN, False),
        (2, 3, [MISSED], OPEN, True),
        (2, 3, [MISSED, NEW], OPEN, False),
        (2, 3, [MISSED, FOUND], YES, False),
        (2, 3, [MISSED, MISSED], OPEN, True),
        (2, 3, [MISSED, NOT_POSSIBLE], OPEN, True),
        (3, 3, [MISSED, MISSED, WAITS], OPEN, False),
        (3, 3, [MISSED, MISSED, MISSED], NO, False),
        (3, 3, [NOT_POSSIBLE, MISSED, FOUND], YES, False),
        # More came than there may be: a late acceptance still counts.
        (3, 3, [MISSED, MISSED, MISSED, FOUND], YES, False),
        (2, 3, [FOUND], YES, False),
    ],
)
def test_the_fate_of_the_answers_decides(wanted: int, most: int, answers: list[Vote], state: State, more: bool) -> None:
    for order in permutations(answers):
        verdict = decide("described-v1", VoteContext(wanted, most), order)
        assert (verdict.state, verdict.winner, verdict.more) == (state, None, more)


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ([FOUND, MISSED], "1 of 2 answers passed in the studies that asked about it."),
        ([WAITS], "The only answer is still being asked about."),
        ([MISSED, MISSED], "0 of 2 answers passed; somebody else is asked."),
        ([MISSED, MISSED, MISSED], "0 of 3 answers passed, and the limit of answers is reached."),
    ],
)
def test_people_are_told_why(answers: list[Vote], sentence: str) -> None:
    assert decide("described-v1", VoteContext(1, 3), answers).reason == sentence

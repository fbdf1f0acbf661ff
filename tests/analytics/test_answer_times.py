"""Which times the server's clock leaves room for, and which nobody can need. Worked out by hand."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta

import pytest

from analytics.work.answer_times import TimedAnswer, TimeEvidence, least_seconds, possible_seconds, time_evidence
from analytics.work.working_time import SentAnswer
from tests.factories import NOON


def sent(at: float, claimed: float | None = None, hidden: float = 0) -> SentAnswer:
    """Return an answer that arrives `at` seconds after the first question, after `claimed` seconds."""
    return SentAnswer(
        NOON + timedelta(seconds=at), None if claimed is None else int(claimed * 1000), int(hidden * 1000)
    )


@pytest.mark.parametrize(
    ("answers", "seconds"),
    [
        # One after the other, as claimed.
        ([sent(10, 9), sent(25, 14)], [9, 14]),
        # 21 s claimed for each second.
        ([sent(1, 21), sent(2, 21), sent(3, 21)], [1, 1, 1]),
        # Ten minutes without a line: four answers come together, each after its own time.
        ([sent(600, 12), sent(600, 30), sent(600, 8), sent(600, 20)], [12, 30, 8, 20]),
        # The fifth cannot have been with them: its question was served when the first answer arrived.
        ([sent(600, 12), sent(600, 30), sent(600, 8), sent(600, 20), sent(600, 9)], [12, 30, 8, 20, 0]),
        # The page was out of sight for 60 s of 65.
        ([sent(70, 65, 60)], [5]),
        # Nothing was measured: the time since the answer before.
        ([sent(7), sent(20)], [7, 13]),
        # A wait of five minutes lends no time to questions that were served after it: the fifth came 2 s after the
        # first answer, which began its own 21 s before.
        ([sent(300, 21), sent(300.5, 21), sent(301, 21), sent(301.5, 21), sent(302, 21)], [21, 21, 21, 21, 2]),
        # A clock that was set back.
        ([sent(10, 9), sent(5, 4)], [9, 1]),
    ],
)
def test_answers_are_fitted_in_one_after_the_other(answers: Sequence[SentAnswer], seconds: Sequence[float]) -> None:
    assert possible_seconds(NOON, answers, held=4) == pytest.approx(seconds)


def test_reading_and_looking_take_their_time() -> None:
    # 0.3 s, four pictures of 0.05 s and ten words of 0.03 s.
    assert least_seconds(words=10, pictures=4) == pytest.approx(0.8)


def timed(*rows: tuple[float | None, float], least: float = 0.8) -> list[TimedAnswer]:
    return [TimedAnswer(claimed, possible, least) for claimed, possible in rows]


@pytest.mark.parametrize(
    ("answers", "evidence"),
    [
        # Faster than anybody reads.
        ([(None, 0.08)] * 5, TimeEvidence(5, 5, 0, 0.4, 4, is_too_quick=True, claims_too_much=False)),
        # More than passed, be it in one answer.
        ([(21, 1)], TimeEvidence(1, 0, 21, 1, 0.8, is_too_quick=False, claims_too_much=True)),
    ],
    ids=["quick", "claims"],
)
def test_times_that_cannot_be_are_found(answers: list[tuple[float | None, float]], evidence: TimeEvidence) -> None:
    found = time_evidence(timed(*answers))
    assert found is not None
    assert asdict(found) == pytest.approx(asdict(evidence))


@pytest.mark.parametrize(
    "answers",
    [
        [],
        # A fast expert: 1.2 s each.
        timed(*[(1.2, 1.2)] * 30),
        # Half of the answers were quick, no more.
        timed(*[(0.5, 0.5)] * 5, *[(2, 2)] * 5),
        # Two slips of the finger in a sitting of three.
        timed((0.2, 0.2), (0.2, 0.2), (5, 5)),
        # Two tabs counted the same seconds: 30 s claimed where 20 s were possible; 300 s where 250 s were.
        timed((30, 20)),
        timed((300, 250)),
        # No scripts: slow.
        timed((None, 40), (None, 90)),
    ],
)
def test_honest_times_are_not_marked(answers: list[TimedAnswer]) -> None:
    assert time_evidence(answers) is None

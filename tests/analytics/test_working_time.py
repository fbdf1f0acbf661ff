"""Time at work, worked out by hand."""

from datetime import UTC, datetime, timedelta

import pytest

from analytics.work.working_time import SentAnswer, seconds_at_work, seconds_per_question

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def after(seconds: int, send_ms: int | None = None, hidden_ms: int | None = None) -> SentAnswer:
    return SentAnswer(NOON + timedelta(seconds=seconds), send_ms, hidden_ms)


def test_a_day_away_is_no_work() -> None:
    answers = [after(20, 18_000, 0), after(50), after(7_200, 7_100_000, 7_060_000), after(93_600)]
    assert seconds_at_work(NOON, answers) == [18, 30, 40, 300]
    assert seconds_at_work(NOON, []) == []


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (after(12), 12),
        (after(12, 9_500), 9.5),
        # An open page that nobody looks at is not hidden.
        (after(4_000, 3_900_000, 0), 300),
        # A browser may say what cannot be, and a clock may be set back.
        (after(12, 5_000, 9_000), 0),
        (after(-5), 0),
    ],
)
def test_what_one_answer_took(answer: SentAnswer, seconds: float) -> None:
    assert seconds_at_work(NOON, [answer]) == [seconds]


def test_the_pace_is_the_median_of_the_last_ten_once_there_are_three() -> None:
    assert seconds_per_question([], estimate=24) == 24
    assert seconds_per_question([4, 5], estimate=24) == 24
    assert seconds_per_question([4, 5], estimate=None) is None
    assert seconds_per_question([90, 4, 5], estimate=24) == 5
    assert seconds_per_question([100, 100, 100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], estimate=24) == 5.5

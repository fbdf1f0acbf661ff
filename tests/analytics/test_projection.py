from datetime import UTC, datetime, timedelta

import pytest

from analytics.work.projection import projected_end

NINE = datetime(2026, 11, 20, 9, tzinfo=UTC)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def test_the_rate_of_recent_hours_goes_on_from_the_last_answer() -> None:
    """30 answers from 9:00 to 11:30 are 12 an hour; 24 more take two hours."""
    hours = [(NINE, 20), (NINE + HOUR, 5), (NINE + 2 * HOUR, 5)]
    for now in (2.5, 2.75, 3.5):
        found = projected_end(hours, first=NINE, last=NINE + 2.5 * HOUR, left=24, now=NINE + now * HOUR)
        assert found.per_hour == pytest.approx(12)
        assert found.end == NINE + 4.5 * HOUR
        assert (found.answers, found.since) == (30, NINE)


def test_the_time_before_the_first_answer_does_not_count() -> None:
    """30 answers from 9:45 to 10:30 are 40 an hour; 20 more take half an hour."""
    hours = [(NINE, 10), (NINE + HOUR, 20)]
    first, last = NINE + 45 * MINUTE, NINE + 90 * MINUTE
    found = projected_end(hours, first=first, last=last, left=20, now=last)
    assert found.per_hour == pytest.approx(40)
    assert found.end == NINE + 2 * HOUR


def test_breaks_count_and_old_hours_do_not() -> None:
    """The first hour is the 25th before the last: of the other 24, each with 2 answers, the first began 47 hours before
    the last answer because every second hour was a break."""
    hours = [(NINE + 2 * place * HOUR, 100 if place == 0 else 2) for place in range(25)]
    found = projected_end(hours, first=NINE, last=NINE + 49 * HOUR, left=48, now=NINE + 49 * HOUR)
    assert found.per_hour == pytest.approx(48 / 47)
    assert found.end == NINE + (49 + 47) * HOUR


def test_no_end_is_projected_once_no_answer_has_come_for_an_hour() -> None:
    """40 answers in half an hour are 80 an hour; 80 more end an hour after the last."""
    last = NINE + HOUR / 2
    soon, later = (
        projected_end([(NINE, 40)], first=NINE, last=last, left=80, now=now)
        for now in (last + HOUR, last + HOUR + MINUTE)
    )
    assert soon.end == last + HOUR
    assert (later.end, later.per_hour) == (None, None)
    assert later.reason == "No answers have come since 20 Nov 2026, 09:30 UTC, so no end is projected."


def test_a_night_like_the_one_before_is_waited_for() -> None:
    """Answers at 18:00 and at 9:00 the next day: the break between these hours is 15 hours."""
    hours = [(NINE - 15 * HOUR, 10), (NINE, 10)]
    last = NINE + MINUTE
    soon, late = (projected_end(hours, first=hours[0][0], last=last, left=400, now=last + n * HOUR) for n in (15, 16))
    assert soon.end is not None
    assert late.reason.startswith("No answers have come since 20 Nov 2026, 09:01 UTC")


def test_no_end_is_projected_from_the_full_hour_after_it() -> None:
    """40 answers in half an hour are 80 an hour; 20 more end 15 minutes after the last, before 10:00."""
    soon, later = (
        projected_end([(NINE, 40)], first=NINE, last=NINE + HOUR / 2, left=20, now=NINE + n * MINUTE) for n in (59, 60)
    )
    assert soon.end == NINE + 45 * MINUTE
    assert later.reason.startswith("No answers have come since 20 Nov 2026, 09:30 UTC")


@pytest.mark.parametrize(
    ("hours", "left", "reason"),
    [
        ([], 5, "Too few answers yet to project the end: 0 of at least 20."),
        ([(NINE, 19)], 5, "Too few answers yet to project the end: 19 of at least 20."),
        ([(NINE, 19)], 0, "All answers are in."),
        ([(NINE, 20)], 1_000_000, "At this rate it takes more than a year."),
    ],
)
def test_it_says_why_there_is_no_end(hours: list[tuple[datetime, int]], left: int, reason: str) -> None:
    first, last = (NINE, NINE + 30 * MINUTE) if hours else (None, None)
    found = projected_end(hours, first=first, last=last, left=left, now=NINE + HOUR)
    assert (found.end, found.reason) == (None, reason)


def test_answers_of_a_few_minutes_project_nothing() -> None:
    """64 answers in four minutes are not 960 an hour, nor 64."""
    now = NINE + 29 * MINUTE
    found = projected_end([(NINE, 64)], first=NINE + 25 * MINUTE, last=now, left=32, now=now)
    assert (found.end, found.per_hour) == (None, None)
    assert found.reason == (
        "Too early to project the end: the answers so far came within 4 minutes. It needs answers over 30 minutes."
    )

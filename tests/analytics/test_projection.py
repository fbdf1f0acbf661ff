from datetime import UTC, datetime, timedelta

import pytest

from analytics.work.projection import projected_end

NINE = datetime(2026, 11, 20, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_the_rate_of_recent_hours_goes_on() -> None:
    """30 answers from 9:00 to 11:30 are 12 an hour; 24 more take two hours."""
    found = projected_end([(NINE, 20), (NINE + HOUR, 10)], left=24, now=NINE + 2.5 * HOUR)
    assert found.per_hour == pytest.approx(12)
    assert found.end == NINE + 4.5 * HOUR


def test_breaks_count_and_old_hours_do_not() -> None:
    """The first hour is the 25th before the last: of the other 24, each with 2 answers, the first began 47 hours ago
    because every second hour was a break."""
    hours = [(NINE + 2 * place * HOUR, 100 if place == 0 else 2) for place in range(25)]
    found = projected_end(hours, left=48, now=NINE + 49 * HOUR)
    assert found.per_hour == pytest.approx(48 / 47)
    assert found.end == NINE + (49 + 47) * HOUR


def test_a_study_that_nobody_answers_any_more_ends_later_and_later() -> None:
    hours = [(NINE, 40)]
    soon, later = (projected_end(hours, left=40, now=NINE + n * HOUR) for n in (2, 20))
    assert (soon.end, later.end) == (NINE + 4 * HOUR, NINE + 40 * HOUR)


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
    found = projected_end(hours, left=left, now=NINE + HOUR)
    assert (found.end, found.reason) == (None, reason)


def test_the_first_minutes_count_as_an_hour() -> None:
    """20 answers in two minutes are not 600 an hour."""
    assert projected_end([(NINE, 20)], left=20, now=NINE + timedelta(minutes=2)).per_hour == 20

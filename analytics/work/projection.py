"""Project when the answers of a study will be complete, at the present rate."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
# Number of hours with answers that the rate is measured over, and minimum number of answers in them.
ACTIVE_HOURS, LEAST_ANSWERS = 24, 20
# Minutes between the first and the last of these answers: a few simultaneous people do not show a rate.
LEAST_MINUTES = 30
FARTHEST = timedelta(days=366)


@dataclass(frozen=True)
class Projection:
    """When the last answer is expected, at `per_hour` answers; `end` is None when `reason` says why.

    The rate is measured over `answers` answers since `since`.
    """

    end: datetime | None
    per_hour: float | None = None
    reason: str = ""
    answers: int = 0
    since: datetime | None = None


def projected_end(
    hours: Sequence[tuple[datetime, int]],
    *,
    first: datetime | None,
    last: datetime | None,
    left: int,
    now: datetime,
) -> Projection:
    """Return when `left` more answers will have arrived.

    The rate is the number of answers in the last 24 hours that had any, over the time from the `first` answer, or the
    start of the first of these hours if it is later, until the `last` answer: breaks and nights in between count, so
    they are expected again. It needs 20 answers and 30 minutes. The end follows from the last answer, so it stays the
    same until another answer comes.

    No end is projected after a pause longer than the longest break: an hour, or the longest time between the starts of
    two of these hours. None is projected either after the full hour that follows the projected end.

    hours: the start of each hour that had answers, in order, and their number. first, last: when the first and the
    last answer came.

    Example: 30 answers from 9:00, the last at 11:30, are 12 an hour; 24 left at 11:45 end at 13:30. From 12:31 on
    nothing is projected, if answers came in each hour.
    """
    if left <= 0:
        return Projection(None, reason="All answers are in.")
    recent = hours[-ACTIVE_HOURS:]
    given = sum(answers for _, answers in recent)
    if first is None or last is None or given < LEAST_ANSWERS:
        return Projection(None, reason=f"Too few answers yet to project the end: {given} of at least {LEAST_ANSWERS}.")
    starts = [start for start, _ in recent]
    since = max(first, starts[0])
    minutes = (last - since) / MINUTE
    if minutes < LEAST_MINUTES:
        span = max(1, ceil(minutes))
        within = f"the answers so far came within {span} minute{'s' * (span > 1)}"
        return Projection(
            None, reason=f"Too early to project the end: {within}. It needs answers over {LEAST_MINUTES} minutes."
        )
    longest_break = max((later - earlier for earlier, later in pairwise(starts)), default=HOUR)
    per_hour = given * 60 / minutes
    if left / per_hour > FARTHEST / HOUR:
        return Projection(None, per_hour, "At this rate it takes more than a year.")
    end = last + left / per_hour * HOUR
    if now - last > longest_break or now >= full_hour_after(end):
        moment = last.astimezone(UTC)
        latest = f"{moment.day} {moment:%b %Y, %H:%M} UTC"
        return Projection(None, reason=f"No answers have come since {latest}, so no end is projected.")
    return Projection(end, per_hour, answers=given, since=since)


def full_hour_after(time: datetime) -> datetime:
    """Return the next full hour: projections are not more precise, and charts should not change every second."""
    return time.replace(minute=0, second=0, microsecond=0) + HOUR

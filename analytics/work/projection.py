"""When the answers of a study will be complete if they continue to arrive as they do."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

HOUR = timedelta(hours=1)
# Hours with answers that the rate is measured over, and the answers needed in them.
ACTIVE_HOURS, LEAST_ANSWERS = 24, 20
FARTHEST = timedelta(days=366)


@dataclass(frozen=True)
class Projection:
    """When the last answer is expected, at `per_hour` answers; `end` is None when `reason` says why."""

    end: datetime | None
    per_hour: float | None = None
    reason: str = ""


def projected_end(hours: Sequence[tuple[datetime, int]], *, left: int, now: datetime) -> Projection:
    """Return when `left` more answers will have arrived.

    The rate is the number of answers in the last 24 hours that had any, over the time from the start of the first of
    these hours until `now`: breaks and nights in between count, so that they are expected again. hours: the start of
    each hour that had answers, in order, and their number.

    Example: 30 answers between 9:00 and 11:00, and 24 left at 11:30, are 12 an hour; the end is 13:30.
    """
    if left <= 0:
        return Projection(None, reason="All answers are in.")
    recent = hours[-ACTIVE_HOURS:]
    given = sum(answers for _, answers in recent)
    if given < LEAST_ANSWERS:
        return Projection(None, reason=f"Too few answers yet to project the end: {given} of at least {LEAST_ANSWERS}.")
    per_hour = given / (max(now - recent[0][0], HOUR) / HOUR)
    if left / per_hour > FARTHEST / HOUR:
        return Projection(None, per_hour, "At this rate it takes more than a year.")
    return Projection(now + left / per_hour * HOUR, per_hour)

"""Working time so far, and expected time for the rest at the annotator's pace."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

# Longer times on one question count as absence, even with the page open.
MOST_SECONDS = 300
# An annotator's pace is that of their last answers, once there are a few.
LAST_ANSWERS = 10
FEWEST_ANSWERS = 3


@dataclass(frozen=True)
class SentAnswer:
    """An answer that arrived at `at`. The browser measured `send_ms` milliseconds from shown to sent, `hidden_ms` of
    them with the page hidden; None where it measured nothing."""

    at: datetime
    send_ms: int | None = None
    hidden_ms: int | None = None


def seconds_at_work(begun: datetime, answers: Sequence[SentAnswer]) -> list[float]:
    """Return the seconds of work behind each of `answers`, in order of arrival.

    It is the time in view measured by the browser or, without a measurement, the time since the previous answer or
    since `begun`. It is between 0 and MOST_SECONDS, so absences do not count as work.

    Example: begun at 12:00:00; an answer at 12:00:20 after 18 s in sight, one at 12:00:50 of which nothing was
    measured, one at 14:00:00 after 7,100 s of which 7,060 s were hidden, and one at 15:00:00 of which nothing was
    measured: 18, 30, 40 and 300 seconds.
    """
    seconds = []
    before = begun
    for answer in answers:
        if answer.send_ms is None:
            took = (answer.at - before).total_seconds()
        else:
            took = (answer.send_ms - (answer.hidden_ms or 0)) / 1000
        seconds.append(min(max(took, 0.0), MOST_SECONDS))
        before = answer.at
    return seconds


def seconds_per_question(own: Sequence[float], *, estimate: float | None) -> float | None:
    """Return the expected seconds for the next question: the median of the last LAST_ANSWERS times in `own`.

    With fewer than FEWEST_ANSWERS of them it is `estimate`, which may be None.
    """
    return median(own[-LAST_ANSWERS:]) if len(own) >= FEWEST_ANSWERS else estimate

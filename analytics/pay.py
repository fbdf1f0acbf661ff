"""What a study costs and what its annotators earn an hour. Money is `Decimal` in major units (dollars, not cents)."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

SECONDS_PER_HOUR = 3600


@dataclass(frozen=True)
class Wage:
    """Hourly wage of `n` sessions, in the currency of the reward per hour.

    `median` is the reward over the median duration, as Prolific computes it; `tenth_percentile` is the reward over
    the 90th percentile of the durations: one session in ten earns less. Both are None when `reason` says why.
    """

    n: int
    median: Decimal | None
    tenth_percentile: Decimal | None
    reason: str = ""


def projected_cost(per_session: Decimal, seats: int) -> Decimal:
    """Return what `seats` paid sessions cost, without the platform's fee and taxes.

    per_session: reward of one session, major units, at least 0. seats: at least 0. Raises ValueError otherwise.

    Example: 80 seats at 8.00 cost 640.00.
    """
    if per_session < 0 or seats < 0:
        raise ValueError(f"A cost needs a reward and seats of at least 0, not {per_session} and {seats}.")
    return per_session * seats


def percentile(values: Sequence[float], share: Fraction) -> float:
    """Return the value below which `share` (0 to 1) of `values` lie, in their unit.

    Between two values it is interpolated linearly over their distance (Hyndman and Fan 1996, type 7, what
    spreadsheets do). Raises ValueError when there are no values or the share is outside 0 to 1.

    Example: the 90th percentile of [10, 20, 30] is 28.
    """
    if not values:
        raise ValueError("A percentile needs at least one value.")
    if not 0 <= share <= 1:
        raise ValueError(f"A share lies between 0 and 1, not at {share}.")
    ordered = sorted(values)
    rank = share * (len(ordered) - 1)
    lower = int(rank)
    upper = min(lower + 1, len(ordered) - 1)
    return ordered[lower] + (ordered[upper] - ordered[lower]) * float(rank - lower)


def hourly_wage(per_session: Decimal, seconds: Sequence[float]) -> Wage:
    """Return the hourly wage of sessions that were paid `per_session` each and took `seconds`.

    per_session: reward of one session, major units. seconds: one duration per paid session, each over 0; raises
    ValueError otherwise. Nothing is rounded.

    Example: 8.00 for sessions of 2400 s is 12 an hour.
    """
    if any(duration <= 0 for duration in seconds):
        raise ValueError("A session that was paid took more than 0 seconds.")
    if not seconds:
        return Wage(0, None, None, "Nobody has finished yet.")
    return Wage(
        len(seconds),
        _per_hour(per_session, percentile(seconds, Fraction(1, 2))),
        _per_hour(per_session, percentile(seconds, Fraction(9, 10))),
    )


def _per_hour(per_session: Decimal, seconds: float) -> Decimal:
    return per_session * SECONDS_PER_HOUR / Decimal(seconds)

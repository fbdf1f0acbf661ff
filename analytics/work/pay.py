"""Cost of a study and hourly wage of annotators. Money is `Decimal` in major units (dollars, not cents)."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import inf

SECONDS_PER_HOUR = 3600
# Percentiles of session durations for the wage: the median, and the slowest tenth.
_WAGES_AT = (Fraction(1, 2), Fraction(9, 10))


@dataclass(frozen=True)
class PaidSession:
    """A session that is paid: how long it took, in `seconds`, over 0, and how many `answers` it gave, at least 0.

    `reward`: its own pay, if it differs from that of all sessions, in major units, at least 0. `who`: the pseudonym of
    its annotator, "" if unknown.
    """

    seconds: float
    answers: int = 0
    reward: Decimal | None = None
    who: str = ""

    def paid(self, per_session: Decimal, per_answer: Decimal) -> Decimal:
        """Return what it was paid, in major units."""
        return (per_session if self.reward is None else self.reward) + per_answer * self.answers

    def hourly(self, per_session: Decimal, per_answer: Decimal) -> Decimal:
        """Return its hourly wage. Example: 2.00 and 0.15 for each of 20 answers in 1200 s are 15 an hour."""
        return self.paid(per_session, per_answer) * SECONDS_PER_HOUR / Decimal(self.seconds)


@dataclass(frozen=True)
class Wage:
    """Hourly wage of `n` sessions, in the currency of the reward per hour.

    Both wages are pay divided by time, from the seconds that each session took per unit of pay. `median`: at their
    median; if all sessions are paid the same, this is the reward over the median duration, as Prolific computes it.
    `tenth_percentile`: at their 90th percentile, so that one session in ten earns less. Both are None if `reason` says
    why.
    """

    n: int
    median: Decimal | None
    tenth_percentile: Decimal | None
    reason: str = ""


def projected_cost(reward: Decimal, times: int) -> Decimal:
    """Return `reward` times the number of payments, without the platform's fee and taxes.

    reward: of one session, or of one answer, major units, at least 0. times: at least 0. Raises ValueError otherwise.

    Example: 80 seats at 8.00 cost 640.00.
    """
    if reward < 0 or times < 0:
        raise ValueError(f"A cost needs a reward and a number of at least 0, not {reward} and {times}.")
    return reward * times


def session_pay(per_session: Decimal, answers: int, least_answers: int) -> Decimal:
    """Return the pay of a finished session: `per_session`, or its share for fewer than `least_answers`.

    per_session: major units, at least 0. answers: at least 0. least_answers: at least 1, which is always paid in full.
    Rounded to the cent, halves up. Raises ValueError otherwise.

    Example: 1.20 from 15 answers on; 4 answers are paid 0.32.
    """
    if per_session < 0 or answers < 0 or least_answers < 1:
        raise ValueError("A session's pay needs a reward and answers of at least 0, and least answers of at least 1.")
    if answers >= least_answers or least_answers == 1:
        return per_session
    return (per_session * answers / least_answers).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def rewards(per_session: Decimal, per_answer: Decimal, *, seats: int, answers: int) -> Decimal:
    """Return the total pay of these seats and answers, without the platform's fee and taxes.

    per_session, per_answer: rewards, major units, at least 0. seats, answers: at least 0. Raises ValueError otherwise.

    Example: 80 seats at 8.00 and 1600 answers at 0.05 are paid 720.00.
    """
    return projected_cost(per_session, seats) + projected_cost(per_answer, answers)


def platform_fee(cost: Decimal, percent: Decimal) -> Decimal:
    """Return the fee that a platform charges on top of the pay, rounded to the cent, halves up.

    cost: the pay, in major units, at least 0. percent: of the pay, at least 0. Raises ValueError otherwise.

    Example: 33.33 % of 600.00 are 199.98.
    """
    if cost < 0 or percent < 0:
        raise ValueError(f"A fee needs a cost and a share of at least 0, not {cost} and {percent}.")
    return (cost * percent / 100).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def implied_hourly_pay(
    per_session: Decimal, per_answer: Decimal, *, answers: float | Fraction, minutes: float | Fraction
) -> Decimal:
    """Return the hourly pay implied by the estimated time of a session with this many answers.

    per_session, per_answer: rewards, major units, at least 0. answers: of one session on average, at least 0. minutes:
    over 0. Raises ValueError otherwise. Rounded to the cent, halves up.

    Example: 2.00 and 0.15 for each of 20 answers in 20 minutes are 15.00 an hour.
    """
    if minutes <= 0 or answers < 0 or per_session < 0 or per_answer < 0:
        raise ValueError("Pay by the hour needs rewards and answers of at least 0, and more than 0 minutes.")
    paid = Fraction(per_session) + Fraction(per_answer) * Fraction(answers)
    hourly = paid * 60 / Fraction(minutes)
    return (Decimal(hourly.numerator) / Decimal(hourly.denominator)).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def percentile(values: Sequence[float], share: Fraction) -> float:
    """Return the value below which `share` (0 to 1) of `values` lie, in their unit.

    Between two values it is interpolated linearly over their distance (Hyndman and Fan 1996, type 7, what
    spreadsheets do). Values may be infinite. Raises ValueError when there are no values or the share is outside 0 to 1.

    Example: the 90th percentile of [10, 20, 30] is 28.
    """
    if not values:
        raise ValueError("A percentile needs at least one value.")
    if not 0 <= share <= 1:
        raise ValueError(f"share must be from 0 to 1. It is {share}.")
    ordered = sorted(values)
    rank = share * (len(ordered) - 1)
    lower = int(rank)
    upper = min(lower + 1, len(ordered) - 1)
    if rank == lower or ordered[lower] == ordered[upper]:
        # Also if both are infinite: their difference is undefined.
        return ordered[lower]
    return ordered[lower] + (ordered[upper] - ordered[lower]) * float(rank - lower)


def hourly_wage(per_session: Decimal, sessions: Sequence[PaidSession], per_answer: Decimal = Decimal(0)) -> Wage:
    """Return the hourly wage of `sessions` paid `per_session` each, plus `per_answer` per answer.

    per_session, per_answer: rewards, major units, at least 0. Raises ValueError for a session that took no time.
    Nothing is rounded. A session that is paid nothing earns 0 an hour.

    Example: 8.00 for sessions of 2400 s is 12 an hour; 2.00 and 0.15 for each of 20 answers in 1200 s is 15.
    """
    if any(session.seconds <= 0 for session in sessions):
        raise ValueError("A session that was paid took more than 0 seconds.")
    if not sessions:
        return Wage(0, None, None, "Nobody has finished yet.")
    rewards = [session.paid(per_session, per_answer) for session in sessions]
    durations = [session.seconds for session in sessions]
    if len(set(rewards)) == 1:
        # The same as below, without a rounding.
        middle, slow = (rewards[0] * SECONDS_PER_HOUR / Decimal(percentile(durations, at)) for at in _WAGES_AT)
        return Wage(len(sessions), middle, slow)
    per_unit = [took / float(reward) if reward else inf for took, reward in zip(durations, rewards, strict=True)]
    middle, slow = (SECONDS_PER_HOUR / Decimal(percentile(per_unit, at)) for at in _WAGES_AT)
    return Wage(len(sessions), middle, slow)

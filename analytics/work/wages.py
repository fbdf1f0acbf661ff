"""Hourly wages on two clocks, and what it costs to finish. Money is `Decimal` in major units."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import median

from analytics.work.pay import PaidSession, Wage, hourly_wage, platform_fee

# With fewer sessions a low wage raises no alarm.
LEAST_SESSIONS = 5


@dataclass(frozen=True)
class ClockedPay:
    """A session that is paid: its seconds on our clock and on the platform's, None where unknown, and its pay."""

    own_seconds: float | None
    platform_seconds: float | None
    reward: Decimal
    bonuses: Decimal = Decimal(0)


@dataclass(frozen=True)
class ClockWage:
    """Wages on one clock. shares_under: hourly amount -> share of sessions (0 to 1) that earn less, with bonuses."""

    reward_only: Wage
    with_bonuses: Wage
    shares_under: dict[Decimal, float]

    @property
    def percents_under(self) -> list[tuple[Decimal, float]]:
        """Return each hourly amount with the sessions that earn less, in percent (0 to 100), lowest amount first."""
        return [(limit, 100 * share) for limit, share in sorted(self.shares_under.items())]


@dataclass(frozen=True)
class TwoClocks:
    """gap_seconds: by how much the platform's clock runs longer, at the median; None where no session has both."""

    own: ClockWage
    platform: ClockWage
    gap_seconds: float | None


def two_clocks(sessions: Sequence[ClockedPay], limits: Sequence[Decimal]) -> TwoClocks:
    """Return the wages of `sessions` on both clocks. limits: hourly amounts, for the shares of people under them.

    Example: 4.00 for 20 minutes on our clock and 25 on the platform's are 12.00 and 9.60 an hour, and a bonus of 1.00
    makes them 15.00 and 12.00. The gap is 300 s.
    """
    gaps = [
        each.platform_seconds - each.own_seconds
        for each in sessions
        if each.own_seconds is not None and each.platform_seconds is not None
    ]
    return TwoClocks(
        own=_on_clock(sessions, lambda each: each.own_seconds, limits),
        platform=_on_clock(sessions, lambda each: each.platform_seconds, limits),
        gap_seconds=median(gaps) if gaps else None,
    )


def _on_clock(
    sessions: Sequence[ClockedPay], seconds_of: Callable[[ClockedPay], float | None], limits: Sequence[Decimal]
) -> ClockWage:
    timed = [(seconds, each) for each in sessions if (seconds := seconds_of(each)) is not None and seconds > 0]
    rewards = [PaidSession(seconds, reward=each.reward) for seconds, each in timed]
    all_pay = [PaidSession(seconds, reward=each.reward + each.bonuses) for seconds, each in timed]
    nothing = Decimal(0)
    hourly = [each.hourly(nothing, nothing) for each in all_pay]
    under = {limit: sum(each < limit for each in hourly) / len(hourly) for limit in limits} if hourly else {}
    return ClockWage(hourly_wage(nothing, rewards), hourly_wage(nothing, all_pay), under)


def is_alarming(clock: ClockWage, floor: Decimal) -> bool:
    """Whether at least five sessions earn less than `floor` an hour at the median, bonuses included."""
    wage = clock.with_bonuses
    return wage.median is not None and wage.n >= LEAST_SESSIONS and wage.median < floor


@dataclass(frozen=True)
class CostToFinish:
    """What is still to be paid for open places, without the fee, and the fee."""

    rewards: Decimal
    bonuses: Decimal
    fee: Decimal

    @property
    def total(self) -> Decimal:
        return self.rewards + self.bonuses + self.fee


def cost_to_finish(
    reward: Decimal, open_places: int, *, bonuses: Decimal, sessions: int, fee_percent: Decimal
) -> CostToFinish:
    """Return the cost of `open_places` at `reward`, with the bonuses that a session got on average.

    bonuses: of all paid `sessions` so far. fee_percent: of what is paid. Raises ValueError for negative values.

    Example: 10 places at 4.00, 6.00 of bonuses for 12 sessions, and a fee of a third (33.33 %): 40.00, 5.00 and 15.00.
    """
    if open_places < 0 or sessions < 0 or bonuses < 0:
        raise ValueError(f"Places, sessions and bonuses are at least 0, not {open_places}, {sessions} and {bonuses}.")
    rewards = reward * open_places
    expected = (bonuses * open_places / sessions if sessions else Decimal(0)).quantize(Decimal("0.01"))
    return CostToFinish(rewards, expected, platform_fee(rewards + expected, fee_percent))

"""Arithmetic of a ledger of payments. Money is `Decimal` in major units, or whole cents where it says so."""

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, ROUND_UP, Decimal

CENT = Decimal("0.01")
_SECONDS_PER_HOUR = 3600
# Shares of a reward that the platform pays, in percent.
PERCENTS = range(8, 100)


def in_cents(amount: Decimal) -> int:
    """Return an amount in cents. Raises ValueError for fractions of a cent. Example: 1.50 is 150."""
    cents = amount * 100
    if cents != int(cents):
        raise ValueError(f"{amount} has fractions of a cent.")
    return int(cents)


def from_cents(cents: int) -> Decimal:
    """Return an amount in major units. Example: 150 cents are 1.50."""
    return (Decimal(cents) / 100).quantize(CENT)


def shown_payments(
    shown: Iterable[int], *, paid: Iterable[int], waiting: Sequence[tuple[int, int]]
) -> tuple[set[int], list[int]]:
    """Return which payments a platform shows, and what it shows beside ours.

    shown: cents of each payment that the platform lists for a submission. paid: cents of each of ours that is known to
    be paid. waiting: id and cents of each of ours that may be paid, most likely ones first.

    Each listed amount stands for one payment. Example: 100, 100 and 250 are shown; one of 100 is paid; 7 (100), 8 (100)
    and 9 (50) wait. Then 7 is paid too, and 250 is not ours.
    """
    left = Counter(shown)
    for cents in paid:
        if left[cents]:
            left[cents] -= 1
    found = set()
    for number, cents in waiting:
        if left[cents]:
            left[cents] -= 1
            found.add(number)
    return found, sorted(left.elements())


def raise_to_floor(floor: Decimal, seconds: float, paid: Sequence[Decimal]) -> Decimal:
    """Return what is missing to an hourly wage of `floor`, rounded up to the cent, 0.00 if nothing is.

    floor: major units an hour, over 0. seconds: at least 0. paid: reward and bonuses so far. Raises ValueError
    otherwise.

    Example: 12.00 an hour for 1000 s are 3.3333; 2.00 and 0.50 were paid, so 0.84 is missing.
    """
    if floor <= 0 or seconds < 0:
        raise ValueError(f"A wage needs more than 0 an hour and at least 0 seconds, not {floor} and {seconds}.")
    earned = floor * Decimal(str(seconds)) / _SECONDS_PER_HOUR
    return max(earned - sum(paid, Decimal(0)), Decimal(0)).quantize(CENT, rounding=ROUND_UP)


def part_of_reward(reward: Decimal, percent: int) -> Decimal:
    """Return a share of a reward, rounded to the cent, halves to even. percent: 8 to 99; raises ValueError otherwise.

    Prolific does not publish how it rounds. Example: 35 % of 2.50 are 0.88, and 25 % are 0.62.
    """
    if percent not in PERCENTS:
        raise ValueError(f"A part is from 8 to 99 percent. It is {percent}.")
    return (reward * percent / 100).quantize(CENT, rounding=ROUND_HALF_EVEN)


def percent_of_reward(reward: Decimal, amount: Decimal) -> int | None:
    """Return the least percentage of which `amount` is the share of a reward, None if it is none.

    Example: 0.88 of 2.50 are 35 %.
    """
    return next((percent for percent in PERCENTS if part_of_reward(reward, percent) == amount), None)

"""Counts with their nouns, lists of names, times, and amounts with their currency. Pure."""

from collections.abc import Collection
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal

# Digits before the point of the largest amount; an amount of money as study files write it.
MOST_DIGITS = 6
# In Python `$` alone also matches before a final line end; in other languages the rest has no effect.
AMOUNT = rf"^[0-9]{{1,{MOST_DIGITS}}}(\.[0-9]{{2}})?$(?!\n)"
_CENT = Decimal("0.01")
_MOMENT_SECONDS = 10
_MOST_NAMED = 5


def format_count(number: int, noun: str) -> str:
    """Return a count with its noun: "1 answer", "1,200 answers"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def name_some(names: Collection[str]) -> str:
    """Return the first names, and how many more there are: "a.jpg, b.jpg, c.jpg, d.jpg, e.jpg and 1,200 more"."""
    more = len(names) - _MOST_NAMED
    return ", ".join([*names][:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def format_time_left(left: timedelta) -> str:
    """Return about how long something takes: "3 hours", "4 minutes", "a moment"."""
    seconds = int(left.total_seconds())
    for unit, size in (("hour", 3600), ("minute", 60)):
        if seconds >= size:
            return format_count(round(seconds / size), unit)
    return "a minute" if seconds > _MOMENT_SECONDS else "a moment"


def format_duration(seconds: float) -> str:
    """Return how long something took, in one unit: "38 s", "12.5 min", "2.25 h"."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:,.2f} h"


def format_money(amount: Decimal | float, currency: str) -> str:
    """Return an amount with its currency as pages of researchers say it: "USD 1,234.50"."""
    return f"{currency} {Decimal(str(amount)).quantize(_CENT, ROUND_HALF_UP):,}"


def format_share(share: float) -> str:
    """Return a share, from 0 to 1, in percent: "30 %", "12.5 %"."""
    return f"{round(100 * share, 1):g} %"

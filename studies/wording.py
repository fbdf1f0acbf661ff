"""Counts with their nouns, lists of names, times that are left, and amounts with their currency. Pure."""

from collections.abc import Collection
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal

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


def format_money(amount: Decimal | float, currency: str) -> str:
    """Return an amount with its currency as pages of researchers say it: "USD 1,234.50"."""
    return f"{currency} {Decimal(str(amount)).quantize(_CENT, ROUND_HALF_UP):,}"

"""Counts with their nouns, and amounts with their currency. Pure."""

from decimal import ROUND_HALF_UP, Decimal

_CENT = Decimal("0.01")


def format_count(number: int, noun: str) -> str:
    """Return a count with its noun: "1 answer", "1,200 answers"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_money(amount: Decimal | float, currency: str) -> str:
    """Return an amount with its currency as pages of researchers say it: "USD 1,234.50"."""
    return f"{currency} {Decimal(str(amount)).quantize(_CENT, ROUND_HALF_UP):,}"

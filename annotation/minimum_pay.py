"""Minimum hourly pay, and unusually high pay; pages warn of both."""

from decimal import Decimal

from django.conf import settings

# The currency of the minimum.
CURRENCY = "USD"
# By currency, what an hour on Prolific must bring at least and what Prolific advises (prolific.md, section 5.4).
PROLIFIC_HOURLY = {"USD": (Decimal(8), Decimal(12)), "GBP": (Decimal(6), Decimal(9))}
# In any of the currencies, an hour of more is most likely a slip of the keyboard.
UNUSUALLY_HIGH = Decimal(100)


def minimum_hourly_pay(currency: str) -> Decimal | None:
    """Return the minimum hourly pay in major units; None if the site sets none for the currency."""
    return settings.LEAST_HOURLY_PAY if currency == CURRENCY else None


def is_underpaid(currency: str, hourly: Decimal | None) -> bool:
    """Return whether actual or expected hourly pay is below the minimum; False while it is None."""
    least = minimum_hourly_pay(currency)
    return least is not None and hourly is not None and hourly < least


def is_unusually_high(hourly: Decimal) -> bool:
    return hourly > UNUSUALLY_HIGH

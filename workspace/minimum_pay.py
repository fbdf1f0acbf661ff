"""What an hour is to be paid at least on this site, before pages and alarms say that it is too little."""

from decimal import Decimal

from django.conf import settings

# The currency that the least is said in.
CURRENCY = "USD"


def least_hourly(currency: str) -> Decimal | None:
    """Return what an hour is to be paid at least, in major units; None where nobody has said so for the currency."""
    return settings.LEAST_HOURLY_PAY if currency == CURRENCY else None


def is_underpaid(currency: str, hourly: Decimal | None) -> bool:
    """Tell whether what an hour is paid, or would be, is under the least that there is for the currency; False where
    nobody has earned anything yet."""
    least = least_hourly(currency)
    return least is not None and hourly is not None and hourly < least

from decimal import Decimal

import pytest
from pytest_django import Settings

from annotation.minimum_pay import is_underpaid


@pytest.mark.parametrize(
    ("currency", "hourly", "too_low"),
    [
        ("USD", Decimal("7.99"), True),
        ("USD", Decimal("8.00"), False),
        # Nobody has said what is the least in pounds.
        ("GBP", Decimal("1.00"), False),
        # Nobody has earned anything yet.
        ("USD", None, False),
    ],
)
def test_an_hour_is_underpaid_below_the_least_of_its_currency(
    settings: Settings, currency: str, hourly: Decimal | None, too_low: bool
) -> None:
    settings.LEAST_HOURLY_PAY = Decimal("8.00")
    assert is_underpaid(currency, hourly) is too_low

"""Amounts are said in one way on all pages of researchers."""

from decimal import Decimal

from studies.wording import format_money


def test_an_amount_has_its_currency_first_thousands_and_two_decimals() -> None:
    assert format_money(Decimal("1234.5"), "USD") == "USD 1,234.50"
    assert format_money(3703.495, "EUR") == "EUR 3,703.50"
    assert format_money(0, "GBP") == "GBP 0.00"

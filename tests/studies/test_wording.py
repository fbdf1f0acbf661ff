"""Amounts and lists of names are said in one way on all pages of researchers."""

from decimal import Decimal

from studies.wording import format_money, name_some


def test_an_amount_has_its_currency_first_thousands_and_two_decimals() -> None:
    assert format_money(Decimal("1234.5"), "USD") == "USD 1,234.50"
    assert format_money(3703.495, "EUR") == "EUR 3,703.50"
    assert format_money(0, "GBP") == "GBP 0.00"


def test_the_first_names_are_listed_and_the_others_counted() -> None:
    assert name_some({}) == ""
    assert name_some(["a", "b"]) == "a, b"
    assert name_some(["a", "b", "c", "d", "e"]) == "a, b, c, d, e"
    assert name_some([str(number) for number in range(1, 1206)]) == "1, 2, 3, 4, 5 and 1,200 more"

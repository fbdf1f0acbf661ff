"""Amounts in any usual spelling."""

import pytest

from studies.design.amounts import explain_amount, read_amount
from studies.design.form_changes import find_changes


@pytest.mark.parametrize(
    ("typed", "amount"),
    [
        ("8", ("8.00", "")),
        ("8,5", ("8.50", "")),
        ("8,00", ("8.00", "")),
        ('"8.00"', ("8.00", "")),
        ("$8.00", ("8.00", "USD")),
        ("8.00 usd", ("8.00", "USD")),
        ("€ 8", ("8.00", "EUR")),
        ("1,200.50", ("1200.50", "")),
        ("1.200,50 €", ("1200.50", "EUR")),
        ("1 200", ("1200.00", "")),
        ("1.200.000", ("1200000.00", "")),
        ("\N{FULLWIDTH DIGIT TWO}.\N{FULLWIDTH DIGIT FIVE}", ("2.50", "")),
        ("\u0668\u066b\u0665", ("8.50", "")),
        ("\u0661\u066c\u0662\u0663\u0664\u066b\u0665", ("1234.50", "")),
        ("1,234,567", ("1234567.00", "")),
        ("8.005", None),
        ("1,234", None),
        ("$1,234", None),
        ("1.200 €", None),
        ("eight", None),
        ("0,500", None),
        ("-8", None),
        ("£8 USD", None),
    ],
)
def test_an_amount_is_read_as_people_write_it(typed: str, amount: tuple[str, str] | None) -> None:
    assert read_amount(typed) == amount


def test_an_amount_in_another_currency_than_the_study_is_left_for_the_schema_to_refuse() -> None:
    values = {"kind": "rating", "pay": {"currency": "USD"}}
    path = ("pay", "per_session")
    for typed, changed in (("8 USD", "8.00"), ("8 €", "8 €")):
        assert find_changes(values, {"pay.per_session": typed, "pay.currency": "USD"}) == {path: changed}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("8.005", "It could be 8.00 or 8,005.00. Write 8.00 or 8005.00."),
        ("1,234", "It could be 1.23 or 1,234.00. Write 1.23 or 1234.00."),
        ("1.234 €", "It could be 1.23 or 1,234.00. Write 1.23 or 1234.00."),
        (
            "8€",
            "The currency of this study is USD; write the amount without a sign, or change the currency.",
        ),
        ("0.500", "It has more than two decimals. Write an amount such as 8.00."),
        ("eight", "Write an amount such as 8.00."),
        ("99999999999", "It is too large: at most 999999.99. Write an amount such as 8.00."),
    ],
)
def test_it_is_said_what_is_wrong_with_an_amount(typed: str, said: str) -> None:
    assert explain_amount(typed, "USD") == said

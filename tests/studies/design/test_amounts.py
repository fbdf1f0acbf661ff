"""Amounts in any usual spelling."""

import pytest

from studies.design.amounts import read_amount
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
        ("8.005", None),
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

from decimal import Decimal

import pytest

from analytics.work.ledger import (
    from_cents,
    in_cents,
    part_of_reward,
    percent_of_reward,
    raise_to_floor,
    shown_payments,
)


def test_amounts_are_cents_and_back() -> None:
    assert in_cents(Decimal("1.50")) == 150
    assert in_cents(Decimal("0.07")) == 7
    assert str(from_cents(150)) == "1.50"
    with pytest.raises(ValueError, match="fractions of a cent"):
        in_cents(Decimal("1.505"))


def test_each_amount_that_the_platform_shows_stands_for_one_payment() -> None:
    found, others = shown_payments([100, 100, 250], paid=[100], waiting=[(7, 100), (8, 100), (9, 50)])
    assert found == {7}
    assert others == [250]


def test_an_amount_that_is_not_shown_stays_open() -> None:
    assert shown_payments([], paid=[], waiting=[(7, 100)]) == (set(), [])
    # It was paid and is not shown: nothing else is taken for it.
    assert shown_payments([200], paid=[100], waiting=[(7, 100)]) == (set(), [200])


def test_an_amount_that_is_shown_twice_is_ours_once() -> None:
    assert shown_payments([100, 100], paid=[], waiting=[(7, 100)]) == ({7}, [100])


@pytest.mark.parametrize(
    ("floor", "seconds", "paid", "missing"),
    [
        # 12 an hour for 1000 s are 3.33 and a third of a cent.
        ("12.00", 1000, ["2.00", "0.50"], "0.84"),
        ("12.00", 1200, ["4.00"], "0.00"),
        ("12.00", 1201, ["4.00"], "0.01"),
        ("8.00", 3600, ["2.00"], "6.00"),
        ("8.00", 60, ["2.00"], "0.00"),
    ],
)
def test_a_wage_is_raised_to_the_floor_and_rounded_up(
    floor: str, seconds: float, paid: list[str], missing: str
) -> None:
    assert str(raise_to_floor(Decimal(floor), seconds, [Decimal(each) for each in paid])) == missing


def test_a_part_of_the_reward_is_from_8_to_99_percent() -> None:
    assert part_of_reward(Decimal("4.00"), 50) == Decimal("2.00")
    assert part_of_reward(Decimal("2.50"), 35) == Decimal("0.88")
    assert part_of_reward(Decimal("2.50"), 25) == Decimal("0.62")
    for percent in (7, 100):
        with pytest.raises(ValueError, match="8 to 99"):
            part_of_reward(Decimal("4.00"), percent)


def test_the_percentage_is_found_again_from_the_amount() -> None:
    assert percent_of_reward(Decimal("4.00"), Decimal("2.00")) == 50
    assert percent_of_reward(Decimal("4.00"), Decimal("4.00")) is None
    # From 8 to 14 % of 0.10 are 0.01: the least is as good.
    assert percent_of_reward(Decimal("0.10"), Decimal("0.01")) == 8

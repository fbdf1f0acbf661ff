from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from analytics.work.pay import (
    PaidSession,
    hourly_wage,
    implied_hourly_pay,
    percentile,
    platform_fee,
    projected_cost,
    rewards,
    session_pay,
)

HALF, NINE_TENTHS = Fraction(1, 2), Fraction(9, 10)


def test_seats_and_answers_are_paid_together() -> None:
    assert projected_cost(Decimal("8.00"), 81) == Decimal("648.00")
    assert projected_cost(Decimal("8.00"), 0) == 0
    # 80 x 8.00 and 1600 x 0.05.
    assert rewards(Decimal("8.00"), Decimal("0.05"), seats=80, answers=1600) == Decimal("720.00")


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([5], HALF, 5),
        ([3, 1, 2], HALF, 2),
        ([1, 2, 3, 4], HALF, 2.5),
        ([10, 20, 30], NINE_TENTHS, 28),
        ([1, 2, 3, 4, 5], Fraction(1, 4), 2),
        ([7, 9], Fraction(0), 7),
        ([7, 9], Fraction(1), 9),
    ],
)
def test_percentile_interpolates_between_neighbours(values: list[float], share: Fraction, expected: float) -> None:
    assert percentile(values, share) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sessions", "session", "answer", "median", "tenth"),
    [
        # 8.00 for 40 minutes.
        ([(2400, 0)], "8.00", "0", 12, 12),
        # Durations 1200, 2400, 3600 s: median 2400 s; 90th percentile 2400 + 0.8 * 1200 = 3360 s.
        ([(3600, 0), (1200, 0), (2400, 0)], "8.00", "0", 12, Decimal(28800) / 3360),
        # 2.00 and 20 times 0.15 are 5.00, in a third of an hour.
        ([(1200, 20)], "2.00", "0.15", 15, 15),
        # 5.00, 8.00 and 2.00: 240, 300 and 600 s for each unit. Median 300 s; 90th percentile 300 + 0.8 * 300 = 540 s.
        ([(1200, 20), (2400, 40), (1200, 0)], "2.00", "0.15", 12, Decimal(3600) / 540),
        # 1.50 in 600 s, twice, and nothing in 600 s, which is the slowest: 400 s for each unit, which is 9 an hour.
        ([(600, 0), (600, 10), (600, 10)], "0", "0.15", 9, 0),
        ([(600, 10)], "0", "0", 0, 0),
    ],
    ids=["one", "durations", "with answers", "different pay", "one paid nothing", "nothing"],
)
def test_wage_is_taken_from_the_median_and_the_slowest_tenth(
    sessions: list[tuple[float, int]], session: str, answer: str, median: Any, tenth: Any
) -> None:
    wage = hourly_wage(Decimal(session), [PaidSession(*each) for each in sessions], Decimal(answer))
    assert wage.n == len(sessions)
    assert wage.median == pytest.approx(Decimal(median))
    assert wage.tenth_percentile == pytest.approx(Decimal(tenth))


def test_wage_of_nobody_is_undefined_and_says_why() -> None:
    wage = hourly_wage(Decimal("8.00"), [])
    assert (wage.n, wage.median, wage.tenth_percentile, wage.reason) == (0, None, None, "Nobody has finished yet.")


@pytest.mark.parametrize(
    ("cost", "percent", "fee"),
    [("600.00", "33.33", "199.98"), ("600.00", "0", "0.00"), ("0", "33.33", "0.00"), ("1.50", "33", "0.50")],
)
def test_the_fee_of_a_platform_is_a_share_of_what_is_paid(cost: str, percent: str, fee: str) -> None:
    assert platform_fee(Decimal(cost), Decimal(percent)) == Decimal(fee)


@pytest.mark.parametrize(
    ("session", "answer", "answers", "minutes", "hourly"),
    [
        ("8.00", "0", 100, 40, "12.00"),
        ("2.00", "0.15", 20, 20, "15.00"),
        # 7 thirds of an answer: 0.30 x 7/3 = 0.70 in 9 minutes.
        ("0", "0.30", Fraction(7, 3), 9, "4.67"),
        ("0", "0", 100, 40, "0.00"),
    ],
)
def test_pay_by_the_hour_follows_from_the_estimated_time(
    session: str, answer: str, answers: int | Fraction, minutes: int, hourly: str
) -> None:
    assert implied_hourly_pay(Decimal(session), Decimal(answer), answers=answers, minutes=minutes) == Decimal(hourly)


@pytest.mark.parametrize(
    ("session", "answers", "least", "paid"),
    [
        # 1.20 / 15 = 0.08.
        *(("1.20", answers, 15, paid) for answers, paid in [(0, "0.00"), (1, "0.08"), (4, "0.32"), (14, "1.12")]),
        *(("1.20", answers, 15, "1.20") for answers in (15, 60)),
        # 1.00 x 1 / 8 = 0.125, halves up.
        ("1.00", 1, 8, "0.13"),
        ("1.00", 0, 1, "1.00"),
    ],
)
def test_a_session_with_few_answers_is_paid_its_share(session: str, answers: int, least: int, paid: str) -> None:
    assert session_pay(Decimal(session), answers, least) == Decimal(paid)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: projected_cost(Decimal(-1), 1), "at least 0"),
        (lambda: projected_cost(Decimal(1), -1), "at least 0"),
        (lambda: percentile([], HALF), "at least one value"),
        (lambda: percentile([1], Fraction(3, 2)), "share must be from 0 to 1"),
        (lambda: hourly_wage(Decimal("8.00"), [PaidSession(0)]), "more than 0 seconds"),
        (lambda: implied_hourly_pay(Decimal(1), Decimal(0), answers=1, minutes=0), "more than 0 minutes"),
        (lambda: platform_fee(Decimal(-1), Decimal(1)), "at least 0"),
        (lambda: session_pay(Decimal("1.00"), 1, 0), "least answers of at least 1"),
    ],
)
def test_what_cannot_be_paid_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()

from decimal import Decimal
from fractions import Fraction

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

HALF = Fraction(1, 2)
NINE_TENTHS = Fraction(9, 10)


def test_cost_is_reward_times_seats() -> None:
    assert projected_cost(Decimal("8.00"), 81) == Decimal("648.00")


def test_seats_and_answers_are_paid_together() -> None:
    # 80 x 8.00 and 1600 x 0.05.
    assert rewards(Decimal("8.00"), Decimal("0.05"), seats=80, answers=1600) == Decimal("720.00")


def test_a_study_without_seats_costs_nothing() -> None:
    assert projected_cost(Decimal("8.00"), 0) == 0


@pytest.mark.parametrize(("reward", "seats"), [("-1", 1), ("1", -1)])
def test_cost_refuses_negative_numbers(reward: str, seats: int) -> None:
    with pytest.raises(ValueError, match="at least 0"):
        projected_cost(Decimal(reward), seats)


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


def test_percentile_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        percentile([], HALF)


def test_percentile_refuses_a_share_over_one() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        percentile([1], Fraction(3, 2))


def test_eight_dollars_for_forty_minutes_is_twelve_an_hour() -> None:
    wage = hourly_wage(Decimal("8.00"), [PaidSession(2400)])
    assert (wage.n, wage.median, wage.tenth_percentile) == (1, Decimal(12), Decimal(12))


def test_wage_is_taken_from_the_median_and_the_slowest_tenth() -> None:
    # Durations 1200, 2400, 3600 s: median 2400 s; 90th percentile 2400 + 0.8 * 1200 = 3360 s.
    wage = hourly_wage(Decimal("8.00"), [PaidSession(3600), PaidSession(1200), PaidSession(2400)])
    assert wage.n == 3
    assert wage.median == Decimal(12)
    assert wage.tenth_percentile == pytest.approx(Decimal(28800) / Decimal(3360))


def test_answers_are_paid_besides_their_session() -> None:
    # 2.00 and 20 times 0.15 are 5.00, in a third of an hour.
    assert hourly_wage(Decimal("2.00"), [PaidSession(1200, 20)], Decimal("0.15")).median == Decimal("15.00")


def test_wage_of_sessions_with_different_pay_is_taken_from_how_long_they_took_for_it() -> None:
    # 5.00, 8.00 and 2.00: 240, 300 and 600 s for each unit. Median 300 s; 90th percentile 300 + 0.8 * 300 = 540 s.
    sessions = [PaidSession(1200, 20), PaidSession(2400, 40), PaidSession(1200, 0)]
    wage = hourly_wage(Decimal("2.00"), sessions, Decimal("0.15"))
    assert wage.median == pytest.approx(Decimal(12))
    assert wage.tenth_percentile == pytest.approx(Decimal(3600) / Decimal(540))


def test_a_session_that_is_paid_nothing_is_the_slowest() -> None:
    # Of 1.50 in 600 s, twice, and nothing in 600 s: 400 s for each unit at the median, which is 9 an hour.
    wage = hourly_wage(Decimal(0), [PaidSession(600, 0), *[PaidSession(600, 10)] * 2], Decimal("0.15"))
    assert (wage.median, wage.tenth_percentile) == (Decimal(9), Decimal(0))
    assert hourly_wage(Decimal(0), [PaidSession(600, 10)]).median == 0


def test_wage_of_nobody_is_undefined_and_says_why() -> None:
    wage = hourly_wage(Decimal("8.00"), [])
    assert (wage.n, wage.median, wage.tenth_percentile) == (0, None, None)
    assert wage.reason == "Nobody has finished yet."


def test_wage_refuses_a_session_that_took_no_time() -> None:
    with pytest.raises(ValueError, match="more than 0 seconds"):
        hourly_wage(Decimal("8.00"), [PaidSession(0)])


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


def test_pay_by_the_hour_refuses_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="more than 0 minutes"):
        implied_hourly_pay(Decimal(1), Decimal(0), answers=1, minutes=0)
    with pytest.raises(ValueError, match="at least 0"):
        platform_fee(Decimal(-1), Decimal(1))


@pytest.mark.parametrize(
    ("answers", "paid"), [(0, "0.00"), (1, "0.08"), (4, "0.32"), (14, "1.12"), (15, "1.20"), (60, "1.20")]
)
def test_a_session_with_few_answers_is_paid_its_share(answers: int, paid: str) -> None:
    # 1.20 / 15 = 0.08.
    assert session_pay(Decimal("1.20"), answers, 15) == Decimal(paid)


def test_a_share_is_rounded_to_the_cent_halves_up() -> None:
    # 1.00 x 1 / 8 = 0.125.
    assert session_pay(Decimal("1.00"), 1, 8) == Decimal("0.13")
    assert session_pay(Decimal("1.00"), 0, 1) == Decimal("1.00")
    with pytest.raises(ValueError, match="least answers of at least 1"):
        session_pay(Decimal("1.00"), 1, 0)

from decimal import Decimal
from fractions import Fraction

import pytest

from analytics.pay import hourly_wage, percentile, projected_cost

HALF = Fraction(1, 2)
NINE_TENTHS = Fraction(9, 10)


def test_cost_is_reward_times_seats() -> None:
    assert projected_cost(Decimal("8.00"), 81) == Decimal("648.00")


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
    wage = hourly_wage(Decimal("8.00"), [2400])
    assert (wage.n, wage.median, wage.tenth_percentile) == (1, Decimal(12), Decimal(12))


def test_wage_is_taken_from_the_median_and_the_slowest_tenth() -> None:
    # Durations 1200, 2400, 3600 s: median 2400 s; 90th percentile 2400 + 0.8 * 1200 = 3360 s.
    wage = hourly_wage(Decimal("8.00"), [3600, 1200, 2400])
    assert wage.n == 3
    assert wage.median == Decimal(12)
    assert wage.tenth_percentile == pytest.approx(Decimal(28800) / Decimal(3360))


def test_wage_of_nobody_is_undefined_and_says_why() -> None:
    wage = hourly_wage(Decimal("8.00"), [])
    assert (wage.n, wage.median, wage.tenth_percentile) == (0, None, None)
    assert wage.reason == "Nobody has finished yet."


def test_wage_refuses_a_session_that_took_no_time() -> None:
    with pytest.raises(ValueError, match="more than 0 seconds"):
        hourly_wage(Decimal("8.00"), [0])

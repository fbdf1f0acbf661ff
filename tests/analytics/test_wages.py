from decimal import Decimal

import pytest

from analytics.work.wages import ClockedPay, cost_to_finish, is_alarming, two_clocks

LIMITS = (Decimal(8), Decimal(12))


def paid(own: float | None, platform: float | None, reward: str = "4.00", bonuses: str = "0") -> ClockedPay:
    return ClockedPay(own, platform, Decimal(reward), Decimal(bonuses))


def test_a_session_has_a_wage_on_each_clock_with_and_without_bonuses() -> None:
    found = two_clocks([paid(1200, 1500, bonuses="1.00")], LIMITS)
    assert (found.own.reward_only.median, found.own.with_bonuses.median) == (Decimal(12), Decimal(15))
    assert found.platform.reward_only.median == Decimal("9.6")
    assert found.platform.with_bonuses.median == Decimal(12)
    assert found.gap_seconds == 300


def test_the_median_the_slowest_tenth_and_the_shares_are_those_of_all_sessions() -> None:
    # 12, 8, 6, 4.80 and 4 dollars an hour; at the 90th percentile of the times, 3360 s, 4.2857.
    sessions = [paid(None, minutes * 60) for minutes in (20, 30, 40, 50, 60)]
    found = two_clocks(sessions, LIMITS)
    assert found.platform.reward_only.median == Decimal(6)
    assert found.platform.reward_only.tenth_percentile == pytest.approx(Decimal("4.2857142857"))
    assert found.platform.shares_under == {Decimal(8): 0.6, Decimal(12): 0.8}
    assert (found.own.reward_only.median, found.own.reward_only.reason) == (None, "Nobody has finished yet.")
    assert (found.own.shares_under, found.gap_seconds) == ({}, None)


def test_bonuses_of_some_change_the_median_of_all() -> None:
    # 4, 4 and 8 dollars an hour with the bonus; 4 without.
    sessions = [paid(3600, None), paid(3600, None), paid(3600, None, bonuses="4.00")]
    own = two_clocks(sessions, LIMITS).own
    assert (own.reward_only.median, own.with_bonuses.median) == (Decimal(4), Decimal(4))
    assert own.shares_under == {Decimal(8): pytest.approx(2 / 3), Decimal(12): 1}


def test_an_alarm_needs_five_sessions_under_the_floor() -> None:
    four, five = ([paid(3600, None)] * number for number in (4, 5))
    assert not is_alarming(two_clocks(four, LIMITS).own, Decimal(8))
    assert is_alarming(two_clocks(five, LIMITS).own, Decimal(8))
    assert not is_alarming(two_clocks(five, LIMITS).own, Decimal(4))
    assert not is_alarming(two_clocks(five, LIMITS).platform, Decimal(8))


def test_a_clock_that_was_set_back_counts_for_nothing() -> None:
    assert two_clocks([paid(-5, 0)], LIMITS).own.reward_only.n == 0


def test_finishing_costs_the_open_places_the_usual_bonuses_and_the_fee() -> None:
    found = cost_to_finish(Decimal("4.00"), 10, bonuses=Decimal("6.00"), sessions=12, fee_percent=Decimal("33.33"))
    # 33.33 % of 45.00 are 14.9985.
    assert (found.rewards, found.bonuses, found.fee) == (Decimal("40.00"), Decimal("5.00"), Decimal("15.00"))
    assert found.total == Decimal("60.00")


def test_nobody_has_finished_yet_so_no_bonuses_are_expected() -> None:
    found = cost_to_finish(Decimal("4.00"), 2, bonuses=Decimal(0), sessions=0, fee_percent=Decimal(0))
    assert found.total == Decimal("8.00")
    with pytest.raises(ValueError, match="at least 0"):
        cost_to_finish(Decimal("4.00"), -1, bonuses=Decimal(0), sessions=0, fee_percent=Decimal(0))

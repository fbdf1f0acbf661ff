import pytest

from tests.analytics.flags.made import find, sentence

FAST, SLOW = {"possible_seconds": 0.5}, {"possible_seconds": 2.0}


def test_finds_a_burst() -> None:
    found = find("too_fast", [FAST] * 5)
    # Five slips in five answers: .15 to the fifth.
    assert found == {"quick": 5, "answers": 5, "p": pytest.approx(0.15**5), "seconds": 2.5, "least_seconds": 4.0}
    assert sentence("too_fast", found) == (
        "5 of 5 answers came faster than anybody can read and look: after 0.5 s on average, where at least 0.8 s are "
        "needed (p < 0.001)."
    )


def test_spares_slips_and_fast_experts() -> None:
    # Three of ten are slips with a chance of 18 %; an expert who takes two seconds is above the minimum.
    assert find("too_fast", [FAST] * 3 + [SLOW] * 7) is None
    assert find("too_fast", [SLOW] * 100) is None
    # Without a clock there is nothing to compare.
    assert find("too_fast", [{"possible_seconds": None}] * 20) is None
    # Two answers are no burst.
    assert find("too_fast", [FAST] * 2) is None

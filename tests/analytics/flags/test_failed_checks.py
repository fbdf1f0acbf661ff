import pytest

from analytics.flags.base import probability
from tests.analytics.flags.made import find, sentence


def _checks(check: str, *passed: bool) -> list[dict[str, object]]:
    return [{"check": check, "is_right": each} for each in passed]


def test_two_of_three_instruction_checks_are_no_slip() -> None:
    found = find("failed_checks", _checks("instruction", True, False, False))
    # Three times the beta-binomial chance of exactly two, and that of three, around .015: .0007.
    assert found is not None
    assert (found["failed"], found["asked"]) == (2, 3)
    assert found["p"] == pytest.approx(0.0008, abs=0.0002)
    assert sentence("failed_checks", found) == "2 of 3 instruction checks were failed (p < 0.001)."
    assert find("failed_checks", _checks("instruction", True, False, True)) is None


def test_gold_questions_are_hard_for_some() -> None:
    # Beta(4, 16): five of five are 4 x 5 x 6 x 7 x 8 / (20 x 21 x 22 x 23 x 24) = .0013.
    found = find("failed_checks", _checks("gold", *[False] * 5))
    assert found is not None
    assert found["p"] == pytest.approx(6720 / 5100480)
    # Four of four are .004.
    assert find("failed_checks", _checks("gold", *[False] * 4)) is None
    # Others failed them as often.
    assert find("failed_checks", _checks("gold", *[False] * 5), check_failures={"gold": 0.6}) is None


def test_checks_without_a_result_are_left_out() -> None:
    unknown = [{"check": "repeat", "is_right": None}] * 10
    assert find("failed_checks", unknown) is None
    assert find("failed_checks", [{}] * 10) is None


def test_a_p_value_stays_in_one_line() -> None:
    assert (probability(0.0004), probability(0.0123)) == ("p\u00a0<\u00a00.001", "p\u00a0=\u00a00.012")

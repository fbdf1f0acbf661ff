import pytest

from analytics.session_tests import combined_p
from tests.analytics.flags.made import find, sentence

AGREES = {"label": "yes", "places": 2, "others": {"yes": 1}}
DIFFERS = {"label": "no", "places": 2, "others": {"yes": 1}}
KNOWN = {"agreement": {"pick": 0.9}}


def test_fishers_method() -> None:
    # -2 ln .01 = 9.21; the tail of chi-squared with 4 degrees is e^-4.605 (1 + 4.605).
    assert combined_p([0.1, 0.1]) == pytest.approx(0.01 * (1 + 4.60517), rel=1e-5)
    assert combined_p([0.3]) == pytest.approx(0.3)


def test_two_weak_signs_together() -> None:
    # 12 or fewer of 24 with .7 is .031; a failed instruction check .015; two of two gold .048: together .0015.
    answers = [AGREES, DIFFERS] * 12
    failed = [{"check": "instruction", "is_right": False}, *[{"check": "gold", "is_right": False}] * 2]
    found = find("weak_signs", answers + failed, **KNOWN)
    assert found is not None
    assert (found["failed"], found["asked"], found["agreed"]) == (3, 3, 0.5)
    assert sentence("weak_signs", found).startswith(
        "50 % of 24 answers agree with unflagged sessions, and 3 of 3 checks were failed"
    )
    assert find("low_agreement", answers + failed, **KNOWN) is None
    assert find("failed_checks", answers + failed, **KNOWN) is None


def test_spares_who_agrees_or_passes() -> None:
    failed = [{"check": "gold", "is_right": False}] * 5
    assert find("weak_signs", [AGREES] * 24 + failed, **KNOWN) is None
    passed = [{"check": "gold", "is_right": True}] * 5
    assert find("weak_signs", [AGREES, DIFFERS] * 12 + passed, **KNOWN) is None

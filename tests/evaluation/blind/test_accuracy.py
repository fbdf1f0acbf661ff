"""How often a program is right that sees only part of a question: counted by hand."""

from math import sqrt

import pytest

from evaluation.blind.accuracy import blind_accuracy


def test_a_tie_is_a_guess() -> None:
    # Right alone, wrong, two that tie, and three of which the right one is not among the highest two.
    scores = [[2.0, 1.0], [1.0, 2.0], [1.0, 1.0], [0.0, 5.0, 5.0]]
    found = blind_accuracy(scores, [0, 0, 0, 0], ["a", "b", "c", "d"])
    assert found.share == pytest.approx((1 + 0 + 1 / 2 + 0) / 4)
    assert found.chance == pytest.approx((1 / 2 + 1 / 2 + 1 / 2 + 1 / 3) / 4)
    assert (found.n, found.groups, found.reason) == (4, 4, None)
    # The rounding of sums makes no difference.
    assert blind_accuracy([[0.1 + 0.2, 0.3]] * 2, [1, 1], "ab").share == 0.5


def wilson(share: float, n: float, t: float) -> tuple[float, float]:
    middle, half = 2 * n * share + t**2, t * sqrt(t**2 + 4 * n * share * (1 - share))
    return (middle - half) / (2 * (n + t**2)), (middle + half) / (2 * (n + t**2))


def test_questions_of_their_own_have_wilson_s_interval_of_a_share() -> None:
    # 30 of 40 single questions; t with 39 degrees of freedom is 2.0227. With a group for each, the variance between
    # groups is 40/39 of that of single answers, and so are the answers that count: 40 x 39/40 = 39.
    found = blind_accuracy([[1.0, 0.0]] * 30 + [[0.0, 1.0]] * 10, [0] * 40, range(40))
    assert (found.low, found.high) == pytest.approx(wilson(0.75, 39, 2.0227), abs=0.002)


def test_questions_that_hang_together_tell_less() -> None:
    right, wrong = [1.0, 0.0], [0.0, 1.0]
    scores = [right] * 20 + [wrong] * 20
    alone = blind_accuracy(scores, [0] * 40, range(40))
    # Five groups of four are right altogether and five are wrong: ten draws, not forty.
    together = blind_accuracy(scores, [0] * 40, [number // 4 for number in range(40)])
    assert together.share == alone.share == 0.5
    assert together.low is not None
    assert alone.low is not None
    # Ten draws reach down to 0.24.
    assert together.low < wilson(0.5, 10, 1.96)[0] < alone.low


def test_where_groups_do_not_differ_each_counts_once() -> None:
    from scipy.stats import beta

    # Each instance is right in one direction and wrong in the other, as a text alone must be on BiVLC.
    found = blind_accuracy([[1.0, 0.0], [0.0, 1.0]] * 10, [0] * 20, [number // 2 for number in range(20)])
    assert found.share == 0.5
    assert found.low == pytest.approx(beta.ppf(0.025, 5, 6), abs=0.03)


def test_without_questions_or_with_one_group_it_says_why_there_is_no_interval() -> None:
    nothing = blind_accuracy([], [], [])
    assert (nothing.share, nothing.low, nothing.n) == (None, None, 0)
    assert nothing.reason
    one = blind_accuracy([[1.0, 0.0], [1.0, 0.0]], [0, 0], ["a", "a"])
    assert (one.share, one.low, one.high) == (1.0, None, None)
    assert one.reason


@pytest.mark.parametrize(
    ("scores", "right", "groups"),
    [
        ([[1.0, 0.0]], [0, 1], ["a"]),
        ([[1.0, 0.0]], [2], ["a"]),
        ([[1.0]], [0], ["a"]),
        ([[float("nan"), 0.0]], [0], ["a"]),
        ([[float("inf"), 0.0]], [0], ["a"]),
    ],
)
def test_what_is_no_question_is_refused(scores: list[list[float]], right: list[int], groups: list[str]) -> None:
    with pytest.raises(ValueError, match="option"):
        blind_accuracy(scores, right, groups)

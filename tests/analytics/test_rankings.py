"""Agreement of rankings against worked examples of textbooks, and by hand."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.rankings import kendall_tau, kendall_w, mean_kendall_tau

# Siegel 1956, p. 231: three executives rank six applicants; s = 25.5, W = .16.
EXECUTIVES = [[1, 6, 3, 2, 5, 4], [1, 5, 6, 4, 2, 3], [6, 3, 2, 5, 4, 1]]
# Siegel 1956, pp. 234-235: three tied rankings of ten items; s = 591, W = .828 with the correction for ties.
TIED = [
    [1, 4.5, 2, 4.5, 3, 7.5, 6, 9, 7.5, 10],
    [2.5, 1, 2.5, 4.5, 4.5, 8, 9, 6.5, 10, 6.5],
    [2, 1, 4.5, 4.5, 4.5, 4.5, 8, 8, 8, 10],
]
# Siegel 1956, pp. 213-219: authoritarianism and social status strivings of twelve students, tau = .67; strivings and
# yielding, with ties, tau = .39.
AUTHORITARIANISM = [82, 98, 87, 40, 116, 113, 111, 83, 85, 126, 106, 117]
STRIVINGS = [42, 46, 39, 37, 65, 88, 86, 56, 62, 92, 54, 81]
YIELDING = [0, 0, 1, 1, 3, 4, 5, 6, 7, 8, 8, 12]


def test_concordance_and_tau_are_siegels_without_and_with_ties() -> None:
    found = kendall_w(EXECUTIVES)
    assert found.value == pytest.approx(0.16, abs=0.005)
    assert (found.n_rankings, found.n_items, found.reason) == (3, 6, None)
    # 591 / (9 x 990 / 12 - 3 x 9.5) = 591 / 714.
    assert kendall_w(TIED).value == pytest.approx(591 / 714)
    assert kendall_tau(AUTHORITARIANISM, STRIVINGS).value == pytest.approx(44 / 66)
    assert kendall_tau(STRIVINGS, YIELDING).value == pytest.approx(25 / (66 * 63) ** 0.5)


def test_the_examples_of_the_docstrings_are_right() -> None:
    assert kendall_w([[1, 2, 3], [1, 3, 2]]).value == pytest.approx(0.75)
    assert kendall_tau([1, 2, 3], [1, 3, 2]).value == pytest.approx(1 / 3)
    assert mean_kendall_tau([[1, 2, 3], [1, 2, 3], [1, 3, 2]]).value == pytest.approx(5 / 9)
    # The third ranks nothing, so that its pairs have no tau; the first two agree on all.
    assert mean_kendall_tau([[1, 2, 3], [1, 2, 3], [1, 1, 1]]).value == pytest.approx(1)


def test_reversed_orders_agree_on_nothing_and_the_same_order_on_everything() -> None:
    assert kendall_w([[1, 2, 3, 4], [4, 3, 2, 1]]).value == 0
    assert kendall_tau([1, 2, 3, 4], [4, 3, 2, 1]).value == -1
    for ranking in ([1, 2, 3, 4], [1, 1, 2, 2], [1, 1, 3, 4]):
        assert kendall_w([ranking] * 3).value == pytest.approx(1)
        assert mean_kendall_tau([ranking] * 3).value == pytest.approx(1)


@pytest.mark.parametrize(
    ("ranks", "reason"),
    [
        ([[1, 2, 3]], "There is only one ranking, so there is nothing to compare."),
        ([[1], [1]], "There is only one item, so there is no order."),
        ([[1, 1, 1], [1, 1, 1]], "Everything is tied, so nothing is ranked."),
    ],
)
def test_what_cannot_be_told_has_a_reason(ranks: list[list[float]], reason: str) -> None:
    for measure in (kendall_w, mean_kendall_tau):
        found = measure(ranks)
        assert (found.value, found.reason) == (None, reason)


@pytest.mark.parametrize("ranks", [[1, 2, 3], [[1, float("nan")], [1, 2]]])
def test_what_is_no_ranking_is_an_error(ranks: Any) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        kendall_w(ranks)


@given(st.lists(st.lists(st.integers(1, 4), min_size=4, max_size=4), min_size=2, max_size=5))
def test_tau_and_concordance_stay_in_range_and_are_scipys_where_two_compare(ranks: list[list[int]]) -> None:
    from scipy.stats import kendalltau

    w, tau = kendall_w(ranks).value, kendall_tau(ranks[0], ranks[1]).value
    assert w is None or -1e-9 <= w <= 1 + 1e-9
    if tau is not None:
        assert tau == pytest.approx(kendalltau(ranks[0], ranks[1]).statistic)

"""Bins counted by hand."""

import pytest

from results.reports.histogram import histogram


def shown(values: dict[float, int], *, are_whole: bool = False) -> dict[str, float | None]:
    series = histogram({"": values}, are_whole=are_whole)
    return {point.label: point.value for each in series for point in each.points}


def test_each_value_is_in_the_bin_from_its_lower_edge() -> None:
    assert shown({0.5: 1, 3.2: 1, 3.9: 1}) == {"0 to 1": 1, "1 to 2": 0, "2 to 3": 0, "3 to 4": 2}
    assert shown({2: 4}, are_whole=True) == {"0": 0, "1": 0, "2": 4}
    assert shown({0.0: 1}) == {"0 to 1": 1}
    assert shown({}) == {}


@pytest.mark.parametrize(("most", "first"), [(19.9, "0 to 1"), (20, "0 to 2"), (99, "0 to 5"), (1000, "0 to 100")])
def test_there_are_at_most_twenty_bins_with_round_edges(most: float, first: str) -> None:
    labels = list(shown({most: 1}))
    assert labels[0] == first
    assert len(labels) <= 20


def test_a_few_long_values_share_the_last_bin() -> None:
    """95 of 100 are 1, so that the bins end after 2."""
    found = shown({1: 95, 40: 3, 7000: 2})
    assert found == {"0 to 1": 0, "1 to 2": 95, "2 or more": 5}


def test_several_names_have_the_same_bins() -> None:
    first, second = histogram({"a": {0: 1}, "b": {3: 2}, "c": {}})
    assert [point.value for point in first.points] == [1, 0, 0, 0]
    assert [point.value for point in second.points] == [0, 0, 0, 2]
    assert [(point.x, point.x_end) for point in first.points] == [(0, 1), (1, 2), (2, 3), (3, 4)]

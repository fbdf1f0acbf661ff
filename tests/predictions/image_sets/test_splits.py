"""The expected values are computed by hand."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from predictions.image_sets.splits import BadShares, counts_of, groups_of, shares_of, splits_of
from tests.predictions.near import at

PAPER = shares_of("train=.8,valid=.1,test=.1")


def test_shares_are_read_exactly_and_in_their_order() -> None:
    assert list(PAPER.items()) == [("train", Fraction(4, 5)), ("valid", Fraction(1, 10)), ("test", Fraction(1, 10))]
    assert shares_of("test=1") == {"test": 1}
    assert shares_of(" train = 0.75 , test=.25") == {"train": Fraction(3, 4), "test": Fraction(1, 4)}


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ("train=.8,valid=.1", "The shares of --split add up to 0.9. They must add up to 1."),
        ("train=.5,train=.5", "--split names train twice. Name each split once."),
        ("train=most,test=.1", "--split gives train the share 'most'. It must be a number over 0, such as .8."),
        ("train=1,test=0", "--split gives test the share '0'. It must be a number over 0, such as .8."),
        ("train=1.1,test=-.1", "--split gives test the share '-.1'. It must be a number over 0, such as .8."),
        ("train", "--split gives train the share ''. It must be a number over 0, such as .8."),
    ],
)
def test_shares_that_cannot_be_used_are_refused(shares: str, sentence: str) -> None:
    with pytest.raises(BadShares) as refused:
        shares_of(shares)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("sets", "counts"),
    [
        # 5.6, .7, .7: two are left over, for the two largest remainders.
        (7, [5, 1, 1]),
        # 4, .5, .5: one is left over, and of two that are alike the first gets it.
        (5, [4, 1, 0]),
        (0, [0, 0, 0]),
        # 9,402 sets: 7,521.6, 940.2, 940.2.
        (9402, [7522, 940, 940]),
    ],
)
def test_counts_are_by_largest_remainder(sets: int, counts: list[int]) -> None:
    assert list(counts_of(sets, PAPER).values()) == counts


def test_sets_of_one_source_or_with_nearly_the_same_picture_are_a_group() -> None:
    # One degree apart is nearly the same: sets 0 and 3 share a source; 3 and 1 a picture; 2 and 4 nothing.
    vectors = [at(0, 10), at(61, 90), at(120, 130), at(60, 40), at(200, 210)]
    near = 1 - math.cos(math.radians(2))
    assert groups_of(["a", "b", "c", "a", "d"], vectors, near_below=near) == [[0, 1, 3], [2], [4]]
    assert groups_of(["a", "b", "c", "a", "d"], vectors, near_below=0) == [[0, 3], [1], [2], [4]]
    assert groups_of([], [], near_below=near) == []


def test_near_pictures_are_found_whatever_lies_between_them() -> None:
    # More pictures than are compared at a time, on a spiral in three dimensions; the last is the first again.
    turns = np.linspace(0, math.pi / 2, 1000)
    spiral = np.stack([np.cos(turns), np.sin(turns) * np.cos(8 * turns), np.sin(turns) * np.sin(8 * turns)], axis=1)
    vectors = [row[None].astype(np.float32) for row in (*spiral, spiral[0])]
    groups = groups_of(range(1001), vectors, near_below=1e-7)
    assert [group for group in groups if len(group) > 1] == [[0, 1000]]


def test_every_split_gets_as_many_as_it_should_and_groups_stay_together() -> None:
    sizes = random.Random(3)
    groups, start = [], 0
    while start < 500:
        size = min(sizes.choice([1, 1, 2, 3, 5]), 500 - start)
        groups.append(list(range(start, start + size)))
        start += size
    counts = counts_of(500, PAPER)
    found = splits_of(groups, counts, seed="a")
    assert {name: found.count(name) for name in counts} == {"train": 400, "valid": 50, "test": 50}
    assert all(len({found[number] for number in group}) == 1 for group in groups)
    assert splits_of(groups, counts, seed="a") == found
    assert splits_of(groups, counts, seed="b") != found


def test_groups_that_fit_in_one_way_only_are_put_so() -> None:
    # 6, 3 and 3 of groups of 3, 3, 2, 2 and 2: the three of 2 must be the 6.
    groups = [[0, 1, 2], [3, 4, 5], [6, 7], [8, 9], [10, 11]]
    found = splits_of(groups, {"train": 6, "valid": 3, "test": 3}, seed="a")
    assert found[6:] == ["train"] * 6
    assert sorted(set(found[:6])) == ["test", "valid"]


def test_a_group_that_fits_nowhere_is_put_where_most_places_are() -> None:
    first, second, third, alone = splits_of([[0, 1, 2], [3]], {"train": 2, "test": 2}, seed="a")
    assert first == second == third != alone
    assert {first, alone} == {"train", "test"}

from dataclasses import replace

import pytest

from evaluation.instance_lookup import KnownInstance, join
from evaluation.result_files import RowContent

CAT = KnownInstance(1, "7", " a cat on a DJ", "a dog on a DJ", "replace", "obj", "as-is-v1", "000000000001.jpg")
TWIN = KnownInstance(2, "9", "a cat on a DJ", "a dog on a DJ", "replace", "obj", "as-is-v1", "000000000002.jpg")
BIRD = KnownInstance(3, "11", "A bird.", "A fish.", "swap", "att", "as-is-v1")
RELEASED = RowContent("A cat on a dj.", "A dog on a dj.", "replace", "obj")
UNTOUCHED = RowContent(" a cat on a DJ", "a dog on a DJ", "replace", "obj")
BIRD_ROW = RowContent("A bird.", "A fish.", "swap", "att")


@pytest.mark.parametrize("row", [RELEASED, UNTOUCHED])
def test_captions_join_as_released_and_as_in_the_source(row: RowContent) -> None:
    assert join([(1, row)], [CAT, BIRD]).instances == {1: 1}


@pytest.mark.parametrize(
    "other",
    [{"negative_caption": "A dog on a vj."}, {"type": "swap"}, {"subtype": "att"}, {"filename": "000000000009.jpg"}],
)
def test_a_row_that_differs_anywhere_is_about_no_instance(other: dict[str, str]) -> None:
    joined = join([(4, replace(RELEASED, **other))], [CAT, BIRD])
    assert (joined.instances, joined.unclear) == ({}, {})
    assert joined.unknown[4].startswith("The project has no such instance: 'A cat on a dj.' and 'A dog on a")


def test_as_many_twins_on_both_sides_are_joined_in_order() -> None:
    assert join([(5, RELEASED), (8, BIRD_ROW), (9, RELEASED)], [CAT, BIRD, TWIN]).instances == {5: 1, 8: 3, 9: 2}


def test_the_photo_tells_twins_apart_whatever_the_order() -> None:
    first, second = (replace(RELEASED, filename=f"00000000000{number}.jpg") for number in (1, 2))
    assert join([(1, second), (2, first)], [CAT, TWIN]).instances == {1: 2, 2: 1}
    assert join([(1, second)], [CAT, TWIN]).instances == {1: 2}


def test_other_numbers_of_rows_than_of_instances_and_rows_that_say_nothing_are_unclear() -> None:
    assert join([(3, RELEASED)], [CAT, TWIN]).unclear == {
        3: "The row fits 2 instances (7, 9): 'A cat on a dj.' and 'A dog on a dj.', type replace, subtype obj. "
        "Add a column `key` with the instance of each row."
    }
    joined = join([(3, RELEASED), (6, RELEASED)], [CAT])
    assert joined.instances == {}
    assert list(joined.unclear) == [3, 6]
    assert joined.unclear[6].startswith("The records 3, 6 are identical and fit 1 instance (7): ")
    assert join([(2, RowContent("", "", "", ""))], [CAT]).unclear == {
        2: "The row has neither captions nor a key. Add one of them to identify its instance."
    }


def test_a_key_is_believed_before_captions() -> None:
    assert join([(1, replace(BIRD_ROW, key="7"))], [CAT, BIRD]).instances == {1: 1}
    unknown = join([(1, replace(BIRD_ROW, key="8"))], [CAT, BIRD]).unknown
    assert unknown == {1: "The project has no instance with the key '8'."}

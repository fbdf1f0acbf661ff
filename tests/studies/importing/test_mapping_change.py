"""Changes of a mapping after its import: what can change, and where images and right answers go."""

import pytest

from studies.importing.mapping_change import (
    ImageMove,
    image_moves,
    problems_with_change,
    renamed_right,
    right_answers,
    texts_of_row,
)

OLD = {"a": "caption:caption", "b": "caption:foil", "c": "other", "i_1": "image:candidate", "i_2": "image:candidate"}


@pytest.mark.parametrize(
    ("change", "column", "sentence"),
    [
        ({"i_1": "other"}, "i_1", "Image cannot become Note for researchers"),
        ({"c": "image:image"}, "c", "Note for researchers cannot become Image"),
        ({"c": "key"}, "c", "Note for researchers cannot become Key"),
        ({"c": "ignored"}, "c", "Note for researchers cannot become Leave out"),
        ({"b": "caption:caption"}, "b", "The column 'a' is also the caption caption."),
        ({"b": "caption:No role"}, "b", "is not a name of at most 30 small letters"),
    ],
)
def test_what_cannot_change(change: dict[str, str], column: str, sentence: str) -> None:
    problems = problems_with_change(OLD, OLD | change)
    assert list(problems) == [column]
    assert sentence in problems[column]


def test_a_column_that_was_left_out_stays_so() -> None:
    problems = problems_with_change(OLD | {"x": "ignored"}, OLD | {"x": "caption:x"})
    assert "Leave out cannot become Caption" in problems["x"]


def test_a_column_of_images_cannot_be_forgotten() -> None:
    new = {name: target for name, target in OLD.items() if name != "i_1"}
    assert "Image cannot become Note for researchers" in problems_with_change(OLD, new)["i_1"]


@pytest.mark.parametrize(
    ("old", "new", "moves"),
    [
        # A whole role is renamed, and two swap.
        (
            {"a": "image:candidate", "b": "image:candidate"},
            {"a": "image:set", "b": "image:set"},
            [ImageMove(("candidate", None), ("set", None))],
        ),
        (
            {"a": "image:x", "b": "image:y"},
            {"a": "image:y", "b": "image:x"},
            [ImageMove(("x", None), ("y", None)), ImageMove(("y", None), ("x", None))],
        ),
        # Merged in the order of their numbers.
        (
            {"i10": "image:i10", "i2": "image:i2"},
            {"i10": "image:set", "i2": "image:set"},
            [ImageMove(("i2", 0), ("set", 0), 1), ImageMove(("i10", 0), ("set", 1), 1)],
        ),
        # Split.
        (
            {"i1": "image:set", "i2": "image:set"},
            {"i1": "image:image", "i2": "image:foil"},
            [ImageMove(("set", 0), ("image", 0), 2), ImageMove(("set", 1), ("foil", 0), 2)],
        ),
        ({"a": "image:x", "t": "other"}, {"a": "image:x", "t": "caption:t"}, []),
    ],
)
def test_images_move(old: dict[str, str], new: dict[str, str], moves: list[ImageMove]) -> None:
    assert problems_with_change(old, new) == {}
    assert image_moves(old, new) == moves


def test_columns_without_numbers_are_split_or_merged_by_nobody() -> None:
    together = {"left": "image:x", "right image": "image:x"}
    apart = {"left": "image:left", "right image": "image:other"}
    for old, new in ((together, apart), (apart, together)):
        problems = problems_with_change(old, new)
        assert list(problems) == ["left", "right image"]
        assert "does not know which image" in problems["left"]


def test_right_answers_follow_their_options() -> None:
    new = OLD | {"b": "caption:negative_caption", "i_1": "image:image", "i_2": "image:foil"}
    renamed = right_answers(OLD, new)
    assert renamed == {
        **{"foil": "negative_caption", "foil_": "negative_caption_"},
        **{"candidate-0": "image", "candidate-1": "foil"},
    }
    # Of a list of captions, the first has the role itself; a column with a role of its own is another.
    listed = {"a": "caption:text", "b": "caption:text_3"}
    names = right_answers(listed, listed | {"a": "caption:caption"})
    assert [renamed_right(name, names) for name in ("text", "text_2", "text_3")] == ["caption", "caption_2", "text_3"]
    assert renamed_right(["candidate-1", "none", 3, {"foil": "caption"}], renamed) == [
        *("foil", "none", 3),
        {"negative_caption": "caption"},
    ]
    whole = right_answers(OLD, OLD | {"i_1": "image:set", "i_2": "image:set"})
    assert [renamed_right(name, whole) for name in ("candidate", "candidate-12", "candidates-1")] == [
        *("set", "set-12", "candidates-1")
    ]
    assert right_answers(OLD, OLD | {"b": "other"}) == {"foil": ""}


def test_the_texts_of_a_row_are_those_of_its_file() -> None:
    mapping = {"a": "caption:caption", "b": "caption:caption_3", "t": "type", "c": "other"}
    captions = {"caption": "One.", "caption_2": "Two.", "caption_3": "Three."}
    names = {"type": "add", "subtype": "", "split": "test"}
    assert texts_of_row(mapping, captions, names, {"c": 7, "d": [1]}) == {
        **{"a": ["One.", "Two."], "b": "Three.", "t": "add", "c": 7, "d": [1]}
    }

"""The guess of a mapping, from names and values of columns."""

from typing import Any

import pytest

from studies.importing.mapping import columns_of_role, guess_mapping, image_groups


@pytest.mark.parametrize(
    ("rows", "guess"),
    [
        # The columns of BiVLC's manifest.
        (
            {
                "filename": "1.jpg",
                "caption": "A.",
                "negative_caption": "B.",
                "type": "add",
                "index": "0",
                "img_0": "a.jpg",
            },
            {
                "filename": "image:image",
                "caption": "caption:caption",
                "negative_caption": "caption:negative_caption",
                "type": "type",
                "index": "key",
                "img_0": "image:img_0",
            },
        ),
        # A pair and its foils, in any order.
        (
            {"text": "A b.", "foil": "A c.", "pic_foil": "a.jpg", "pic_true": "b.jpg"},
            {
                "text": "caption:caption",
                "foil": "caption:negative_caption",
                "pic_foil": "image:negative_image",
                "pic_true": "image:image",
            },
        ),
        # With a caption, numbered columns are images to choose from; so is a list.
        (
            {"caption": "A.", "hn_img_0": "a.jpg", "hn_img_1": "b.png"},
            {"caption": "caption:caption", "hn_img_0": "image:candidate", "hn_img_1": "image:candidate"},
        ),
        (
            {"caption": "A.", "photos": ["a.jpg", "b.jpg"]},
            {"caption": "caption:caption", "photos": "image:candidate"},
        ),
        # Without one, they are an image set.
        ({"image 1": "a.jpg", "image 2": "b.png"}, {"image 1": "image:set", "image 2": "image:set"}),
        ({"photos": ["a.jpg", "b.jpg"]}, {"photos": "image:set"}),
        ({"photos": ["a.jpg"] * 11}, {"photos": "image:candidate"}),
        # Ten images are an image set, with descriptions too, whatever they are called.
        (
            {"description": "A."} | {f"img{n}": "a.jpg" for n in range(10)},
            {"description": "caption:caption"} | {f"img{n}": "image:set" for n in range(10)},
        ),
        (
            {"text": "A."} | {str(n): "a.jpg" for n in range(10)},
            {"text": "caption:caption"} | {str(n): "image:set" for n in range(10)},
        ),
        ({"caption": "A.", "frames": ["a.jpg"] * 10}, {"caption": "caption:caption", "frames": "image:set"}),
        # Sets of different sizes: the last columns may be empty.
        (
            {"image_1": "a.jpg", "image_2": "b.jpg", "image_3": ""},
            dict.fromkeys(["image_1", "image_2", "image_3"], "image:set"),
        ),
        # Pairs of an image and a caption with the same number.
        (
            {"image_0": "a.jpg", "image_1": "b.jpg", "caption_0": "A.", "caption_1": "B."},
            {
                "image_0": "image:image_0",
                "image_1": "image:image_1",
                "caption_0": "caption:caption_0",
                "caption_1": "caption:caption_1",
            },
        ),
        # Of several groups, each is called like its columns.
        (
            {"caption": "A.", "a1": "1.jpg", "a2": "2.jpg", "b1": "3.jpg", "b2": "4.jpg"},
            {"caption": "caption:caption", "a1": "image:a", "a2": "image:a", "b1": "image:b", "b2": "image:b"},
        ),
        # A table that pandas wrote has an index without a name.
        ({"": "0", "title": "A yak."}, {"": "key", "title": "caption:caption"}),
        # Without a telling name, the first column with prose.
        ({"en": "A red vase.", "code": "x1"}, {"en": "caption:en", "code": "other"}),
        ({"text": "A red vase.", "caption": "A vase."}, {"text": "caption:text", "caption": "caption:caption"}),
        (
            {"caption": "A red vase.", "hard negative": "A blue vase.", "negative": "yes"},
            {"caption": "caption:caption", "hard negative": "caption:negative_caption", "negative": "other"},
        ),
        (
            {"caption": "A red vase.", "wrong_caption": "A blue vase."},
            {"caption": "caption:caption", "wrong_caption": "caption:negative_caption"},
        ),
        # Short for negative, as a word of its own.
        (
            {"text": "A red vase.", "neg_text": "A blue vase.", "photo": "a.jpg", "neg_photo": "b.jpg"},
            {
                "text": "caption:caption",
                "neg_text": "caption:negative_caption",
                "photo": "image:image",
                "neg_photo": "image:negative_image",
            },
        ),
        (
            {"caption": "A vase.", "text NEG": "A jar.", "image": "a.jpg", "negative_image": "b.jpg"},
            {
                "caption": "caption:caption",
                "text NEG": "caption:negative_caption",
                "image": "image:image",
                "negative_image": "image:negative_image",
            },
        ),
        (
            {"caption": "A vase.", "negotiated text": "A jar."},
            {"caption": "caption:caption", "negotiated text": "caption:negotiated_text"},
        ),
        # A pair of which neither column has a usual name.
        (
            {
                "shape no": "7",
                "file": "a.png",
                "foil file": "b.png",
                "true sentence": "A red cube is left of a blue ball.",
                "foil": "A blue ball is left of a red cube.",
            },
            {
                "shape no": "other",
                "file": "image:image",
                "foil file": "image:negative_image",
                "true sentence": "caption:caption",
                "foil": "caption:negative_caption",
            },
        ),
        # Three captions, none of them called caption.
        (
            {"true sentence": "A vase.", "other sentence": "A jar.", "foil": "A red jar."},
            {
                "true sentence": "caption:true_sentence",
                "other sentence": "caption:other_sentence",
                "foil": "caption:foil",
            },
        ),
        # Of several, each keeps its name.
        (
            {"caption": "A red vase.", "foil_1": "A blue vase.", "foil_2": "A red map."},
            {"caption": "caption:caption", "foil_1": "caption:foil_1", "foil_2": "caption:foil_2"},
        ),
        # Names that are no roles, and values that fit no name.
        ({"字幕 caption": "A."}, {"字幕 caption": "caption:caption"}),
        ({"id": {"a": 1}, "caption": 3, "license": "MIT"}, {"id": "other", "caption": "other", "license": "licence"}),
        ({"image": {"path": "x.parquet#cell=0,image"}, "label": 1}, {"image": "image:image", "label": "other"}),
    ],
)
def test_a_guess(rows: dict[str, Any], guess: dict[str, str]) -> None:
    assert guess_mapping(list(rows), [rows]) == guess


def test_a_column_whose_values_repeat_is_no_key() -> None:
    assert guess_mapping(["id"], [{"id": 1}, {"id": 1}]) == {"id": "other"}


def test_a_group_of_images_can_be_used_in_three_ways() -> None:
    (group,) = image_groups(["text", "img 10", "img 2"], [{"img 2": "a.jpg", "img 10": "b.jpg"}])
    assert (group.columns, group.size) == (["img 2", "img 10"], 2)
    assert group.used_as("set") == {"img 2": "image:set", "img 10": "image:set"}
    assert group.used_as("candidates") == {"img 2": "image:candidate", "img 10": "image:candidate"}
    assert group.used_as("separately") == {"img 2": "image:img_2", "img 10": "image:img_10"}
    # A role of another group is left to it.
    assert set(group.used_as("candidates", {"candidate"}).values()) == {"image:candidate_2"}


def test_columns_without_letters_are_numbered_candidates_where_each_has_a_role() -> None:
    (group,) = image_groups(["1", "2"], [{"1": "a.jpg", "2": "b.jpg"}])
    assert group.used_as("separately") == {"1": "image:candidate_1", "2": "image:candidate_2"}


def test_numbered_columns_of_one_role_are_in_the_order_of_their_numbers() -> None:
    mapping = dict.fromkeys(["image_1", "image_10", "image_2"], "image:set") | {"photo": "image:image"}
    found = columns_of_role(mapping, "image", ["image_1", "image_10", "photo", "image_2"])
    assert [column for column, _ in found] == ["image_1", "image_2", "image_10", "photo"]

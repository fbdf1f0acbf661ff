"""The guess of a mapping, from names and values of columns."""

from typing import Any

import pytest

from studies.importing.mapping import guess_mapping


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
        # Several numbered columns are candidates for one place; so is a list.
        ({"hn_img_0": "a.jpg", "hn_img_1": "b.png"}, {"hn_img_0": "image:candidate", "hn_img_1": "image:candidate"}),
        ({"photos": ["a.jpg", "b.jpg"]}, {"photos": "image:candidate"}),
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

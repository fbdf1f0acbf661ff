"""What a question shows: its hash, and what models can match."""

import hashlib
import json
from copy import deepcopy
from typing import Any

import pytest

from studies.kinds import Match, content_hash, get_kind, matches
from studies.kinds.base import IN_ORDER

ONE, TWO, THREE = (digit * 64 for digit in "123")
CAPTIONS = [{"key": "caption", "text": "A cat."}, {"key": "negative_caption", "text": "A dog."}]
IMAGES = [{"key": "image", "image": ONE, "width": 8, "height": 6}]
IMAGES += [{"key": "negative_image", "image": TWO, "width": 8, "height": 6}]
I2T = {"image": IMAGES[0], "options": CAPTIONS}
T2I = {"caption": "A cat.", "options": IMAGES}


def hash_of(kind: str, content: dict[str, Any]) -> str:
    return content_hash(get_kind(kind), content)


def test_the_hash_is_the_sha256_of_what_is_shown_as_canonical_json() -> None:
    """Written out by hand, so that hashes that are stored stay what they are."""
    written = (
        '{"form":1,"groups":[],"kind":"image_to_text",'
        '"options":[["caption","A cat.","",""],["negative_caption","A dog.","",""]],'
        f'"pictures":[["image","","","{ONE}"]],"texts":[]}}'
    )
    assert json.loads(written)
    assert hash_of("image_to_text", I2T) == hashlib.sha256(written.encode()).hexdigest()


@pytest.mark.parametrize(("kind", "content"), [("image_to_text", I2T), ("text_to_image", T2I)])
def test_the_order_of_options_and_of_entries_is_no_part_of_it(kind: str, content: dict[str, Any]) -> None:
    turned = dict(reversed(content.items())) | {"options": list(reversed(content["options"]))}
    assert hash_of(kind, turned) == hash_of(kind, content)


def test_sizes_and_what_follows_from_an_answer_are_no_part_of_it() -> None:
    best = {"caption": "A cat.", "options": IMAGES, "becomes": "negative_image"}
    resized = [option | {"width": 800, "height": 600} for option in IMAGES]
    assert hash_of("best_of_n", best | {"becomes": "other"}) == hash_of("best_of_n", best)
    assert hash_of("best_of_n", best | {"options": resized}) == hash_of("best_of_n", best)


def changed(content: dict[str, Any], *path: Any, to: Any) -> dict[str, Any]:
    copy = deepcopy(content)
    place = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return copy


@pytest.mark.parametrize(
    ("kind", "content", "other"),
    [
        ("image_to_text", I2T, changed(I2T, "image", "image", to=THREE)),
        ("image_to_text", I2T, changed(I2T, "options", 0, "text", to="A cat")),
        ("image_to_text", I2T, changed(I2T, "options", 0, "key", to="another")),
        ("text_to_image", T2I, changed(T2I, "caption", to="A Cat.")),
        ("text_to_image", T2I, changed(T2I, "options", 1, "image", to=THREE)),
        # The same two pictures, each in the role of the other.
        ("text_to_image", T2I, changed(changed(T2I, "options", 0, "image", to=TWO), "options", 1, "image", to=ONE)),
        ("text_to_image", T2I, changed(T2I, "options", to=IMAGES[:1])),
        ("retrieve", T2I | {IN_ORDER: True}, T2I | {IN_ORDER: True, "caption": "Another."}),
    ],
)
def test_another_text_picture_or_role_is_another_content(
    kind: str, content: dict[str, Any], other: dict[str, Any]
) -> None:
    assert hash_of(kind, content) != hash_of(kind, other)
    # So is the same material asked about by another kind.
    assert hash_of("text_to_image", T2I) != hash_of("best_of_n", T2I)


RATING = {
    "caption": "A cat.",
    "images": IMAGES[:1],
    "scale": {"steps": 5, "lowest": "a", "highest": "b", "level": "ordinal"},
}
OF_CAPTIONS = {"caption": Match("A cat.", ONE), "negative_caption": Match("A dog.", ONE)}
OF_IMAGES = {"image": Match("A cat.", ONE), "negative_image": Match("A cat.", TWO)}


def test_a_scale_in_other_words_is_another_content() -> None:
    assert hash_of("rating", RATING) != hash_of("rating", changed(RATING, "scale", "lowest", to="badly"))


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        ("image_to_text", I2T, OF_CAPTIONS),
        ("text_to_image", T2I, OF_IMAGES),
        # An option that shows nothing has no match.
        ("best_of_n", T2I | {"becomes": "negative_image"}, OF_IMAGES),
        # What is asked otherwise has none.
        ("rating", RATING, {}),
        ("compare", T2I | {"criteria": ["Fits best"], "ties": True}, {}),
    ],
)
def test_each_text_is_matched_with_the_picture_and_each_picture_with_the_text(
    kind: str, content: dict[str, Any], expected: dict[str, Match]
) -> None:
    assert matches(get_kind(kind), content) == expected

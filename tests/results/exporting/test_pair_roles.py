"""The roles that fill the columns of a pair, worked out by hand."""

import pytest

from results.exporting.pair_roles import resolve_pair
from studies.kinds import PairRoles, get_kind, usual_ask

CASES = {
    "nothing said": ([], ("caption",), ("image",), ("", "", "", "")),
    "usual names": (
        [PairRoles("caption", "image", negative_image="negative_image")],
        ("caption", "negative_caption"),
        ("image", "negative_image"),
        ("", "", "", ""),
    ),
    "own names": (
        [PairRoles("text", "true", negative_image="foil")],
        ("text", "note"),
        ("foil", "true"),
        ("text", "true", "", "foil"),
    ),
    "own names, and a caption for the foil from upstream": (
        [PairRoles("text", "true", negative_image="foil"), PairRoles("wrong", "foil")],
        ("text", "wrong"),
        ("foil", "true"),
        ("text", "true", "wrong", "foil"),
    ),
    "the negative side is asked about, in usual names": (
        [PairRoles("negative_caption", "negative_image", negative_image="image")],
        ("caption", "negative_caption"),
        ("image", "negative_image"),
        ("", "", "", ""),
    ),
    "the negative caption is asked about, with pictures of own names": (
        [PairRoles("negative_caption", "foil", negative_image="true")],
        ("caption", "negative_caption"),
        ("foil", "true"),
        ("caption", "true", "negative_caption", "foil"),
    ),
    "the foil is called image": (
        [PairRoles("caption", "true", negative_image="image")],
        ("caption",),
        ("image", "true"),
        ("caption", "true", "", "image"),
    ),
    "a chosen image without the other side": (
        [PairRoles("text", "best")],
        ("text",),
        ("best", "candidate"),
        ("text", "best", "", ""),
    ),
    "a chosen image beside a pair of usual names": (
        [PairRoles("wrong", "best")],
        ("caption", "wrong"),
        ("best", "image"),
        ("caption", "image", "wrong", "best"),
    ),
    "a role that the instance lacks": (
        [PairRoles("text", "true", negative_image="foil")],
        ("text",),
        ("true",),
        ("text", "true", "", ""),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_roles_of_a_pair(case: str) -> None:
    claims, captions, images, expected = CASES[case]
    found = resolve_pair(claims, captions=captions, images=images)
    columns = ("caption", "image", "negative_caption", "negative_image")
    assert tuple(found.get(column, "") for column in columns) == expected


@pytest.mark.parametrize(
    ("kind", "ask", "expected"),
    [
        ("ambiguity", {}, PairRoles("caption", "image", "", "negative_image")),
        ("best_of_n", {"becomes": "best"}, PairRoles("negative_caption", "best")),
        ("text_to_image", {}, PairRoles("caption", "image", "negative_caption", "negative_image")),
        ("image_to_text", {"images": ["a"], "captions": ["t", "u", "v"]}, PairRoles("t", "a", "u", "")),
        (
            "image_to_text",
            {"images": ["a"], "captions": ["caption", "swapped", "negative_caption"]},
            PairRoles("caption", "a", "negative_caption", ""),
        ),
        ("check", {}, PairRoles()),
    ],
)
def test_what_the_design_of_a_kind_says(kind: str, ask: dict[str, object], expected: PairRoles) -> None:
    chosen = get_kind(kind)
    assert chosen.pair_roles(usual_ask(chosen) | ask) == expected

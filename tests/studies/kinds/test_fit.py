"""A kind is offered with roles that the instances have, found by asking the kind alone."""

import pytest

from studies.kinds import ImageFacts, InstanceFacts, find_fit, get_kind, role_entries

IMAGE = ImageFacts("0" * 64, 4, 3)


def facts(captions: str, **images: int) -> InstanceFacts:
    return InstanceFacts(
        "k", dict.fromkeys(captions.split(), "A vase."), {role: [IMAGE] * count for role, count in images.items()}
    )


ONE = facts("caption", image=1)
FOUR = facts("caption", candidate=4)
PAIR = facts("caption negative_caption", image=1, negative_image=1)


@pytest.mark.parametrize(
    ("kind", "instance", "roles"),
    [
        ("best_of_n", ONE, None),
        # The image of a caption that has none yet; otherwise that of a negative caption.
        ("best_of_n", FOUR, {"caption": "caption", "images": "candidate", "becomes": "image"}),
        ("best_of_n", facts("caption", candidate=4, image=1), {"caption": "caption", "becomes": "negative_image"}),
        ("best_of_n", facts("negative_caption", candidate=2), {"becomes": "negative_image"}),
        ("compare", FOUR, {"caption": "caption", "images": ["candidate"]}),
        ("compare", facts("caption", one=1, two=1), {"caption": "caption", "images": ["one", "two"]}),
        # One image cannot be both.
        ("ambiguity", ONE, None),
        ("ambiguity", facts("caption", a=1, b=1), {"caption": "caption", "original": "a", "generated": "b"}),
        # The first role is the right answer: roles stand in the order of the file, and foils last.
        ("ambiguity", facts("text", pic_true=1, pic=1), {"original": "pic_true", "generated": "pic"}),
        ("ambiguity", facts("text", pic_foil=1, pic_true=1), {"original": "pic_true", "generated": "pic_foil"}),
        (
            "image_to_text",
            facts("negative_caption caption", pic_foil=1, pic_true=1),
            {"images": ["pic_true", "pic_foil"], "captions": ["caption", "negative_caption"]},
        ),
        ("image_to_text", ONE, None),
        ("image_to_text", facts("caption negative_caption", image=1), {"images": ["image"]}),
        ("text_to_image", PAIR, {"captions": ["caption", "negative_caption"], "images": ["image", "negative_image"]}),
        # A caption and its foil under other names: both are preselected, the true one first.
        (
            "text_to_image",
            facts("foil true_sentence", image=1, negative_image=1),
            {"captions": ["true_sentence", "foil"], "images": ["image", "negative_image"]},
        ),
        ("rating", ONE, {"caption": "caption", "images": ["image"]}),
        ("check", facts("note", photo=1), {"image": "photo", "captions": ["note"]}),
        ("describe", FOUR, {"images": "candidate"}),
        # It asks about descriptions, and there are none.
        ("retrieve", FOUR, None),
    ],
)
def test_a_kind_fits_with_roles_that_are_there(
    kind: str, instance: InstanceFacts, roles: dict[str, object] | None
) -> None:
    found = find_fit(get_kind(kind), [facts(""), instance])
    if roles is None:
        assert found is None
    else:
        assert found is not None
        assert roles.items() <= found.ask.items()
        assert found.question.content


def test_a_kind_fits_some_of_instances_with_different_roles() -> None:
    """No instance has all three roles of images, of which two can be compared."""
    found = find_fit(get_kind("compare"), [facts("caption", candidate=1), facts("caption", one=1, two=1)])
    assert found is not None
    assert found.ask["images"] == ["one", "two"]


def test_the_role_that_an_answer_fills_is_not_one_that_is_read() -> None:
    assert role_entries(get_kind("best_of_n")) == {"caption": "captions", "images": "images"}
    assert role_entries(get_kind("check")) == {"image": "images", "captions": "captions"}

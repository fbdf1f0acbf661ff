"""Mixed and patched images, by levels of grey that were worked out by hand."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from making.makers import MadeImage, NothingMade, Request, get_maker
from tests.making.makers.images import MISSING, images_of, plane

WHITE, BLACK = plane(200), plane(100)
NO_OTHER = "The project has no other image that can be read in the role of the images."


def made(family: str, request: Request, pictures: Mapping[str, Image.Image | None], **options: Any) -> Any:
    maker = get_maker(family)(**options).load("random")
    maker.look_at(images_of(pictures))
    (result,) = maker.make([request])
    return result


def pixels(image: MadeImage) -> NDArray[np.uint8]:
    return np.asarray(Image.open(BytesIO(image.data)))


def test_a_mixed_image_is_nine_tenths_of_the_first_and_one_tenth_of_another() -> None:
    (image,) = made("mix", Request("", 1, 5, "white"), {"white": WHITE, "black": BLACK})
    # 0.9 x 200 + 0.1 x 100.
    assert np.unique(pixels(image)).tolist() == [190]
    assert pixels(image).shape == (384, 384, 3)
    assert (image.seed, image.prompt, image.problem) == (5, "the images white and black", "")


def test_the_share_can_be_another_one() -> None:
    (image,) = made("mix", Request("", 1, 5, "white"), {"white": WHITE, "black": BLACK}, share=0.8)
    assert np.unique(pixels(image)).tolist() == [180]


def test_a_patched_image_has_a_rectangle_of_another() -> None:
    (image,) = made("patch", Request("", 1, 5, "white"), {"white": WHITE, "black": BLACK})
    assert set(np.unique(pixels(image))) == {100, 200}
    # 384 x the root of 0.1 is 121, of which both halves are 60.
    assert 0 < (pixels(image) == 100).mean() <= 120**2 / 384**2


@pytest.mark.parametrize("family", ["mix", "patch"])
def test_several_are_made_with_different_images_and_never_with_ones_own(family: str) -> None:
    pictures = {"white": WHITE, "own": BLACK, "a": plane(0), "b": plane(50), "c": plane(250)}
    for seed in range(10):
        found = made(family, Request("", 9, seed, "white", frozenset({"white", "own"})), pictures)
        assert {each.prompt for each in found} == {f"the images white and {name}" for name in "abc"}
        assert [each.seed for each in found] == [seed, seed + 1, seed + 2]


@pytest.mark.parametrize("family", ["mix", "patch"])
def test_the_seed_decides_which(family: str) -> None:
    pictures = {name: plane(level) for level, name in enumerate("abcdefgh")}
    once = [made(family, Request("", 1, seed, "a"), pictures) for seed in range(20)]
    assert once == [made(family, Request("", 1, seed, "a"), pictures) for seed in range(20)]
    assert len({image.prompt for (image,) in once}) > 3


@pytest.mark.parametrize("family", ["mix", "patch"])
def test_an_image_that_cannot_be_read_is_left_out_or_has_a_reason(family: str) -> None:
    pictures = {"white": WHITE, "gone": None, "black": BLACK}
    for seed in range(10):
        (image,) = made(family, Request("", 2, seed, "white"), pictures)
        assert image.prompt == "the images white and black"
    assert made(family, Request("", 1, 1, "gone"), pictures) == NothingMade(MISSING)
    assert made(family, Request("", 1, 1, "white"), {"white": WHITE, "gone": None}) == NothingMade(NO_OTHER)

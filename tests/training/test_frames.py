"""Frames of one colour: taken off where there is one, and only there."""

import io

import numpy as np
import pytest
from PIL import Image, ImageOps

from predictions.image_sets.embeddings import ColourAndGradient
from training.frames import may_have_frame, without_frame


def picture(width: int = 320, height: int = 240, seed: int = 0) -> Image.Image:
    """Return smooth random colours without a frame."""
    grid = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(grid).resize((width, height), Image.Resampling.BICUBIC)


def saved(image: Image.Image) -> Image.Image:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=80)
    return Image.open(file).convert("RGB")


def is_suspected(image: Image.Image) -> bool:
    return bool(may_have_frame(ColourAndGradient().embed([image]))[0])


@pytest.mark.parametrize("colour", ["white", "black", "#356", "#888"])
@pytest.mark.parametrize("border", [(32, 32), (10, 10), (0, 60), (80, 0)], ids=str)
def test_a_frame_is_suspected_and_taken_off(colour: str, border: tuple[int, int]) -> None:
    framed = saved(ImageOps.expand(picture(), border, colour))
    # Of thin frames, those of a colour that the image has at its edges are not.
    assert is_suspected(framed) or (border == (10, 10) and colour == "#888")
    inside = without_frame(framed)
    assert inside is not None
    # A line of 256, or two, may be lost where the frame ends.
    assert 320 - 8 <= inside.width <= 320 + 2
    assert 240 - 8 <= inside.height <= 240 + 2
    near = ColourAndGradient().embed([inside, picture()])
    assert near[0] @ near[1] > 0.98


@pytest.mark.parametrize(
    "image",
    [
        picture(),
        Image.new("RGB", (100, 80), "white"),
        # Thinner than a hundredth of a side.
        ImageOps.expand(picture(), 1, "white"),
        # At one side only, and of two colours.
        ImageOps.expand(picture(), (40, 0, 0, 0), "white"),
        ImageOps.expand(ImageOps.expand(picture(), (40, 0, 0, 0), "white"), (0, 0, 40, 0), "black"),
        # Less than 40 % of the width is left.
        ImageOps.expand(picture(), (300, 0), "white"),
    ],
    ids=["none", "plain", "thin", "one side", "two colours", "too wide"],
)
def test_nothing_is_taken_off(image: Image.Image) -> None:
    assert without_frame(image) is None
    assert without_frame(saved(image)) is None


def test_few_images_without_a_frame_are_suspected() -> None:
    vectors = ColourAndGradient().embed([picture(seed=seed) for seed in range(100)])
    assert may_have_frame(vectors).sum() <= 20
    assert may_have_frame(vectors[:0]).tolist() == []

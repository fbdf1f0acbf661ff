"""Parts of images: found where they are, and not taken for others on the same background."""

import numpy as np
from PIL import Image, ImageDraw

from predictions.image_sets.embeddings import WINDOWS, ColourAndGradient
from training.near_crops import NEAR_BELOW, NearCrops, misfits, small_pixels

WHOLE = np.array([[0, 0, 1, 1]])


def scene(ball: str, left: int, seed: int = 0) -> Image.Image:
    """Return a ball before hills that a seed draws, 256 x 256 pixels."""
    picture = Image.new("RGB", (256, 256), "#9bd")
    draw = ImageDraw.Draw(picture)
    dice = np.random.default_rng(seed)
    for _ in range(12):
        x, y, r = (int(dice.integers(*ends)) for ends in ((0, 256), (120, 256), (10, 50)))
        draw.ellipse([x - r, y - r, x + r, y + r], fill=tuple(dice.integers(40, 200, 3).tolist()))
    draw.ellipse([left, 90, left + 50, 140], fill=ball)
    return picture


def index(*pictures: Image.Image) -> NearCrops:
    names = [f"held-{place}" for place in range(len(pictures))]
    pixels = np.stack([small_pixels(picture) for picture in pictures])
    return NearCrops(names, ColourAndGradient().windows(pictures), pixels)


def nearest(crops: NearCrops, picture: Image.Image) -> str | None:
    embedding = ColourAndGradient()
    candidates = crops.candidates(embedding.layout(embedding.embed([picture])))
    found = crops.nearest(small_pixels(picture), candidates[0]) if candidates else None
    return None if found is None else found[1]


def test_a_part_is_found_and_the_rest_is_not() -> None:
    crops = index(scene("red", 100), scene("blue", 60, seed=1))
    assert len(crops) == 2
    assert nearest(crops, scene("red", 100).crop((20, 40, 210, 230))) == "held-0"
    dark = scene("blue", 60, seed=1).crop((40, 30, 240, 230)).point(lambda level: level * 0.7)
    assert nearest(crops, dark) == "held-1"
    assert nearest(crops, scene("red", 100, seed=2)) is None
    assert len(WINDOWS) == 55


def test_another_thing_on_the_same_background_does_not_fit() -> None:
    whole = small_pixels(scene("red", 100))[None]
    assert misfits(whole, whole[0], WHOLE)[0] < NEAR_BELOW / 3
    moved, blue = small_pixels(scene("red", 40)), small_pixels(scene("blue", 100))
    assert misfits(whole, moved, WHOLE)[0] > NEAR_BELOW
    # Red and blue are about equally bright.
    assert misfits(whole, blue, WHOLE)[0] > NEAR_BELOW
    grey = small_pixels(scene("red", 100).convert("L").convert("RGB"))
    assert misfits(whole, grey, WHOLE)[0] < NEAR_BELOW


def test_an_image_without_detail_fits_nothing() -> None:
    whole = small_pixels(scene("red", 100))[None]
    for plain in (Image.new("RGB", (64, 64), "#678"), Image.linear_gradient("L"), Image.new("RGB", (64, 64), "white")):
        assert misfits(whole, small_pixels(plain), WHOLE).tolist() == [np.inf]

import random
from base64 import b64decode
from contextlib import suppress
from io import BytesIO
from typing import Any

import pytest
from PIL import Image, ImageCms

from studies.importing.pictures import (
    NotAPicture,
    PictureFacts,
    decode,
    measure,
    render,
    served_size,
    sizes_between,
    stored_sizes,
)
from tests.studies.source_files import picture_bytes

LIMIT = 1_000_000


def encoded(image: Image.Image, format: str, **save: Any) -> bytes:
    buffer = BytesIO()
    image.save(buffer, format, **save)
    return buffer.getvalue()


def decoded_pixel(data: bytes) -> tuple[int, ...]:
    _, pixels = decode(data, max_pixels=LIMIT)
    assert pixels.mode == "RGB"
    pixel = pixels.getpixel((0, 0))
    assert isinstance(pixel, tuple)
    return tuple(int(level) for level in pixel)


@pytest.mark.parametrize(
    ("longest", "sizes"),
    [
        (1, ["card"]),
        (400, ["card"]),
        (401, ["card", "view"]),
        (1024, ["card", "view"]),
        (1025, ["card", "view", "full"]),
        (9000, ["card", "view", "full"]),
    ],
)
def test_no_pixels_are_stored_twice(longest: int, sizes: list[str]) -> None:
    facts = PictureFacts(width=1, height=longest, format="PNG")
    assert stored_sizes(facts) == sizes
    assert [served_size(size, facts) for size in ("card", "view", "full")] == (sizes + sizes[-1:] * 2)[:3]


@pytest.mark.parametrize(
    ("width", "height", "sizes"),
    [
        (400, 300, []),
        (640, 480, [("card", 400), ("view", 640)]),
        (480, 640, [("card", 300), ("view", 480)]),
        (2048, 1024, [("card", 400), ("view", 1024)]),
    ],
)
def test_what_a_browser_chooses_from_says_its_width(width: int, height: int, sizes: list[tuple[str, int]]) -> None:
    assert sizes_between("card", "view", width=width, height=height) == sizes


@pytest.mark.parametrize(
    ("given", "size", "shown"),
    [
        ((100, 50), "full", (100, 50)),
        ((640, 480), "card", (400, 300)),
        ((480, 640), "card", (300, 400)),
        ((2048, 1000), "view", (1024, 500)),
        ((5000, 4), "card", (400, 1)),
    ],
)
def test_a_rendition_keeps_the_shape_and_is_never_larger(
    given: tuple[int, int], size: str, shown: tuple[int, int]
) -> None:
    with Image.open(BytesIO(render(Image.new("RGB", given), size))) as picture:
        assert picture.format == "WEBP"
        assert picture.size == shown


@pytest.mark.parametrize(("orientation", "corner"), [(1, 0), (2, 1), (3, 2), (4, 3), (5, 0), (6, 3), (7, 2), (8, 1)])
def test_every_exif_orientation_comes_out_upright(orientation: int, corner: int) -> None:
    """The stored corners are red, green, blue, white clockwise from the top left; EXIF says which comes up first."""
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)]
    stored = Image.new("RGB", (64, 32))
    for position, colour in zip([(0, 0), (32, 0), (32, 16), (0, 16)], colours, strict=True):
        stored.paste(colour, (*position, position[0] + 32, position[1] + 16))
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(stored, "PNG", exif=exif)
    facts, pixels = decode(data, max_pixels=LIMIT)
    assert facts == measure(data, max_pixels=LIMIT)
    assert (facts.width, facts.height) == ((32, 64) if orientation >= 5 else (64, 32))
    assert pixels.getpixel((0, 0)) == colours[corner]


def test_metadata_is_not_shown() -> None:
    exif = Image.Exif()
    exif[0x010E] = "where I live"
    _, pixels = decode(picture_bytes(exif=exif, comment=b"where I live"), max_pixels=LIMIT)
    shown = render(pixels, "view")
    assert b"where I live" not in shown
    assert b"EXIF" not in shown
    assert b"ICCP" not in shown


def palette() -> Image.Image:
    image = Image.new("P", (2, 2), 0)
    image.putpalette([200, 0, 0])
    return image


WHITE = (255, 255, 255)


@pytest.mark.parametrize(
    ("image", "save", "shown"),
    [
        (Image.new("RGBA", (2, 2), (255, 0, 0, 0)), {}, WHITE),
        (Image.new("LA", (2, 2), (0, 0)), {}, WHITE),
        (palette(), {"transparency": 0}, WHITE),
        (palette(), {}, (200, 0, 0)),
        (Image.new("RGB", (2, 2), "red"), {"transparency": (255, 0, 0)}, WHITE),
        (Image.new("I;16", (2, 2), 0x8000), {}, (0x80, 0x80, 0x80)),
        (Image.new("I;16", (2, 2), 0xFFFF), {}, WHITE),
        (Image.new("1", (8, 8), 1), {}, WHITE),
        (Image.new("RGB", (2, 2), (128, 64, 32)), {"icc_profile": b"no profile"}, (128, 64, 32)),
    ],
)
def test_transparent_parts_are_white_and_every_mode_keeps_its_tones(
    image: Image.Image, save: dict[str, Any], shown: tuple[int, int, int]
) -> None:
    assert decoded_pixel(encoded(image, "PNG", **save)) == shown


def test_cmyk_comes_out_right() -> None:
    red = decoded_pixel(encoded(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG", quality=95))
    assert red[0] > 200
    assert max(red[1:]) < 60


def test_a_colour_profile_is_turned_into_srgb() -> None:
    """In a profile whose red and green primaries are swapped, full red means sRGB's green."""
    srgb = bytes(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    swapped = srgb.replace(b"rXYZ", b"????", 1).replace(b"gXYZ", b"rXYZ", 1).replace(b"????", b"gXYZ", 1)
    red = Image.new("RGB", (2, 2), (255, 0, 0))
    assert decoded_pixel(encoded(red, "PNG", icc_profile=srgb)) == (255, 0, 0)
    assert decoded_pixel(encoded(red, "PNG", icc_profile=swapped)) == (0, 255, 0)


def test_samples_without_a_known_range_are_refused() -> None:
    with pytest.raises(NotAPicture, match="colours"):
        decode(encoded(Image.new("F", (2, 2), 0.5), "TIFF"), max_pixels=LIMIT)


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP"])
@pytest.mark.parametrize("seed", range(20))
def test_damaged_bytes_are_decoded_or_refused(format: str, seed: int) -> None:
    source = random.Random(seed)
    data = bytearray(encoded(Image.effect_noise((40, 30), 60), format))
    for _ in range(source.randint(1, 12)):
        data[source.randrange(len(data))] = source.randrange(256)
    with suppress(NotAPicture):
        facts, _ = decode(bytes(data[: source.randint(len(data) // 2, len(data))]), max_pixels=LIMIT)
        assert facts.format == format


def test_a_placeholder_is_the_picture_in_sixteen_pixels() -> None:
    wide = Image.new("RGB", (800, 400), "red")
    wide.paste("blue", (400, 0, 800, 400))
    facts, _ = decode(encoded(wide, "PNG"), max_pixels=LIMIT)
    small = Image.open(BytesIO(b64decode(facts.placeholder)))
    assert (small.format, small.size) == ("WEBP", (16, 8))
    left, right = (small.convert("RGB").crop(box).resize((1, 1)).tobytes() for box in ((0, 0, 6, 8), (10, 0, 16, 8)))
    assert left[0] > 200 > 60 > left[2]
    assert right[2] > 200 > 60 > right[0]
    # It is in the page beside every picture.
    assert len(facts.placeholder) < 300


def test_a_picture_of_one_pixel_has_a_placeholder_too() -> None:
    facts, _ = decode(encoded(Image.new("RGB", (1, 1)), "PNG"), max_pixels=LIMIT)
    assert Image.open(BytesIO(b64decode(facts.placeholder))).size == (1, 1)


def test_facts_of_the_header_are_those_of_the_picture() -> None:
    data = encoded(Image.new("RGB", (30, 20)), "PNG")
    assert measure(data, max_pixels=LIMIT) == decode(data, max_pixels=LIMIT)[0]

"""Decode untrusted image files, convert them to upright sRGB, and make renditions for pages."""

import struct
from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from itertools import pairwise

from PIL import Image, ImageCms, ImageOps

# Size name -> longest side in pixels, smallest first. A rendition is never larger than its picture. Four pictures in a
# row on a laptop are about 300 pixels wide each, so `card` is enough there.
SIZES = {"card": 400, "view": 1024, "full": 2560}
# Longest side of a picture that only helps to recognise it.
THUMBNAIL = 160
# Longest side of a picture's placeholder.
PLACEHOLDER = 16
QUALITY = {"card": 84, "view": 86, "full": 88}
# Above 2 the encoder takes twice the time for 3 % fewer bytes (measured on generated 512x512 images).
EFFORT = 2
LARGEST_FILE = 200_000_000
READ_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
_SIXTEEN_BIT = {"I;16", "I;16L", "I;16B", "I;16N"}

# `decode` has its own limit and message.
Image.MAX_IMAGE_PIXELS = None

# Errors of Pillow's decoders for damaged or malicious bytes.
_DECODER_FAILURES = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    EOFError,
    AttributeError,
    NotImplementedError,
    MemoryError,
    struct.error,
    Warning,
)


class NotAPicture(Exception):
    """The bytes are not a picture that can be shown; the message says why."""


@dataclass(frozen=True, slots=True)
class PictureFacts:
    """Upright size in pixels, and file format (JPEG, PNG, ...).

    `placeholder`: a very small WebP in base64 that stands in until the picture is loaded; "" where only the header was
    read.
    """

    width: int
    height: int
    format: str
    placeholder: str = field(default="", compare=False)


def measure(data: bytes, *, max_pixels: int) -> PictureFacts:
    """Return the facts from the header, for bytes that `decode` accepted before. Raises NotAPicture."""
    image = _open(data, max_pixels=max_pixels)
    try:
        turned = image.getexif().get(0x0112, 1) in {5, 6, 7, 8}
    except _DECODER_FAILURES:
        turned = False
    width, height = image.size
    return PictureFacts(height, width, _format(image)) if turned else PictureFacts(width, height, _format(image))


def decode(data: bytes, *, max_pixels: int) -> tuple[PictureFacts, Image.Image]:
    """Decode the whole picture; return its facts and pixels (`decode_pixels`). Raises NotAPicture."""
    format, pixels = decode_pixels(data, max_pixels=max_pixels)
    return PictureFacts(pixels.width, pixels.height, format, _placeholder(pixels)), pixels


def decode_pixels(data: bytes, *, max_pixels: int) -> tuple[str, Image.Image]:
    """Decode the whole picture; return its file format and pixels: upright, 8-bit sRGB, transparency on white.

    Raises NotAPicture for anything except one complete still picture of at most `max_pixels` pixels.
    """
    image = _open(data, max_pixels=max_pixels)
    try:
        image.load()
    except _DECODER_FAILURES as error:
        raise NotAPicture("The image is cut short or damaged. Copy it again from its source.") from error
    mode, format = image.mode, _format(image)
    _turn_upright(image)
    # A large picture takes hundreds of megabytes, so intermediate results are released early.
    held = [image]
    del image
    try:
        return format, _in_srgb(held.pop())
    except _DECODER_FAILURES as error:
        raise NotAPicture(f"The image has colours ({mode}) that cannot be shown. Save it as PNG or JPEG.") from error


def _placeholder(pixels: Image.Image) -> str:
    small = pixels.reduce(max(1, max(pixels.size) // (4 * PLACEHOLDER)))
    small.thumbnail((PLACEHOLDER, PLACEHOLDER))
    buffer = BytesIO()
    small.save(buffer, "WEBP", quality=30, method=EFFORT)
    return b64encode(buffer.getvalue()).decode()


def cut(data: bytes, box: tuple[int, int, int, int], *, max_pixels: int) -> bytes:
    """Return a rectangle of a picture as PNG. Raises NotAPicture, also if it is outside the picture.

    box: left, top, width and height in pixels of the file, before the EXIF orientation; clipped to the picture.
    """
    left, top, width, height = box
    image = _open(data, max_pixels=max_pixels)
    right, bottom = min(left + width, image.width), min(top + height, image.height)
    if left >= right or top >= bottom:
        raise NotAPicture(
            f"The region {left},{top},{width},{height} is not in the image, which has {image.width} x {image.height} "
            "pixels."
        )
    try:
        image.load()
        pixels = _in_srgb(image.crop((left, top, right, bottom)))
    except _DECODER_FAILURES as error:
        raise NotAPicture("The image is cut short or damaged. Copy it again from its source.") from error
    buffer = BytesIO()
    pixels.save(buffer, "PNG")
    return buffer.getvalue()


def stored_sizes(facts: PictureFacts) -> list[str]:
    """Return the distinct rendition sizes of this picture: up to the first that has its full size."""
    longest = max(facts.width, facts.height)
    names = list(SIZES)
    whole = next((name for name in names if SIZES[name] >= longest), names[-1])
    return names[: names.index(whole) + 1]


def sizes_between(smallest: str, largest: str, *, width: int, height: int) -> list[tuple[str, int]]:
    """Return the stored sizes of a `width` x `height` picture between two sizes, smallest first, with widths in pixels.

    Returns nothing if there is only one, because the picture is no larger.
    """
    longest = max(width, height)
    names = [name for name in SIZES if SIZES[smallest] <= SIZES[name] <= SIZES[largest]]
    wider = [name for before, name in pairwise(names) if SIZES[before] < longest]
    if not wider:
        return []
    return [(name, _fit_size(width, height, name)[0]) for name in [smallest, *wider]]


def served_size(size: str, facts: PictureFacts) -> str:
    """Return the stored size for a requested `size`: the same, or a smaller one that has the full picture size."""
    stored = stored_sizes(facts)
    return size if size in stored else stored[-1]


def render(pixels: Image.Image, size: str) -> bytes:
    """Return the picture as WebP without metadata, its longest side limited by `size`."""
    fitted = _fit_size(*pixels.size, size)
    if fitted != pixels.size:
        pixels = pixels.resize(fitted, Image.Resampling.LANCZOS, reducing_gap=2.0)
    buffer = BytesIO()
    pixels.save(buffer, "WEBP", quality=QUALITY[size], method=EFFORT, exif=b"", icc_profile=b"", xmp=b"")
    return buffer.getvalue()


def thumbnail(data: bytes, *, max_pixels: int) -> bytes:
    """Return a picture as a small WebP. Raises NotAPicture."""
    _, pixels = decode(data, max_pixels=max_pixels)
    pixels.thumbnail((THUMBNAIL, THUMBNAIL))
    return render(pixels, "card")


def _fit_size(width: int, height: int, size: str) -> tuple[int, int]:
    """Return width and height of the picture in `size`, in pixels; never larger than the picture."""
    scale = min(1, SIZES[size] / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _open(data: bytes, *, max_pixels: int) -> Image.Image:
    if not data:
        raise NotAPicture("The file is empty.")
    try:
        image = Image.open(BytesIO(data), formats=READ_FORMATS)
    except _DECODER_FAILURES as error:
        raise NotAPicture(f"The file cannot be read as an image ({', '.join(READ_FORMATS)}).") from error
    width, height = image.size
    if width < 1 or height < 1:
        raise NotAPicture(f"The image has no pixels ({width} x {height}).")
    if width * height > max_pixels:
        raise NotAPicture(
            f"The image has {width:,} x {height:,} pixels, more than the {max_pixels:,} that are allowed. "
            "Make it smaller, or raise IMAGE_MAX_PIXELS."
        )
    if _has_more_frames(image):
        raise NotAPicture("The image is animated or has several pages. Save the image you want as a separate file.")
    return image


def _has_more_frames(image: Image.Image) -> bool:
    # Further frames of an MPO file, which phones write as .jpg, are previews and maps; they are ignored.
    if image.format == "MPO":
        return False
    try:
        return bool(getattr(image, "is_animated", False))
    except _DECODER_FAILURES as error:
        raise NotAPicture("The image is cut short or damaged. Copy it again from its source.") from error


def _format(image: Image.Image) -> str:
    return "JPEG" if image.format == "MPO" else str(image.format)


def _turn_upright(image: Image.Image) -> None:
    # Unreadable EXIF: no orientation.
    with suppress(*_DECODER_FAILURES):
        ImageOps.exif_transpose(image, in_place=True)


def _in_srgb(image: Image.Image) -> Image.Image:
    """Return the pixels as 8-bit sRGB."""
    profile = image.info.get("icc_profile")
    if image.mode in _SIXTEEN_BIT:
        return image.convert("I").point(lambda level: level * (1 / 256)).convert("L").convert("RGB")
    if image.mode in {"I", "F"}:
        raise ValueError("32-bit samples have no known range")
    if image.mode == "P" or "transparency" in image.info or image.mode in {"LA", "La", "PA", "RGBa"}:
        image = image.convert("RGBA")
    alpha = image.getchannel("A") if image.mode == "RGBA" else None
    if image.mode == "1":
        image = image.convert("L")
    if image.mode == "RGBA":
        image = image.convert("RGB")
    if profile:
        image = _without_profile(image, profile)
    elif image.mode != "RGB":
        image = image.convert("RGB")
    if alpha is not None:
        white = Image.new("RGB", image.size, "white")
        white.paste(image, mask=alpha)
        return white
    return image


def _without_profile(image: Image.Image, profile: bytes) -> Image.Image:
    """Convert from `profile` to sRGB; ignore a profile that does not fit the picture."""
    try:
        converted = ImageCms.profileToProfile(
            image, ImageCms.ImageCmsProfile(BytesIO(profile)), ImageCms.createProfile("sRGB"), outputMode="RGB"
        )
    except (ImageCms.PyCMSError, *_DECODER_FAILURES):
        return image.convert("RGB")
    return converted if converted is not None else image.convert("RGB")

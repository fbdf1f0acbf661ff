"""Pictures as other programs are to see them: as annotators did."""

from io import BytesIO

from PIL import Image, ImageOps

# What is passed on as it is stored: every program reads it.
_PASSED_ON = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp"}
_ORIENTATION = 0x0112


def as_shown(content: bytes) -> tuple[str, bytes]:
    """Return the bytes of a picture with the ending of their file name, in a format that every program reads, upright.

    What says by EXIF that it is to be turned, which annotators' browsers did and readers of data sets do not, is turned
    and saved without loss, as PNG; so is what is no JPEG, PNG or WebP. Anything else is passed on as it is. Raises
    OSError for what is no picture.
    """
    with Image.open(BytesIO(content)) as picture:
        ending = _PASSED_ON.get(picture.format or "")
        if ending and picture.getexif().get(_ORIENTATION, 1) in (0, 1):
            return ending, content
        out = BytesIO()
        ImageOps.exif_transpose(picture).convert("RGB").save(out, "PNG")
        return "png", out.getvalue()

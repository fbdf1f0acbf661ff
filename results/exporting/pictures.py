"""Pictures for other programs, displayed as annotators saw them."""

from io import BytesIO

from PIL import Image, ImageOps

# Formats that stay unchanged: every program reads them.
_PASSED_ON = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp"}
_ORIENTATION = 0x0112


def as_shown(content: bytes) -> tuple[str, bytes]:
    """Return the bytes of a picture, upright and in a common format, with its file name extension.

    A picture that EXIF rotates, as annotators' browsers did and dataset readers do not, is rotated and saved losslessly
    as PNG; so is anything other than JPEG, PNG and WebP. Everything else is unchanged. Raises OSError for data that is
    no picture.
    """
    with Image.open(BytesIO(content)) as picture:
        ending = _PASSED_ON.get(picture.format or "")
        if ending and picture.getexif().get(_ORIENTATION, 1) in (0, 1):
            return ending, content
        out = BytesIO()
        ImageOps.exif_transpose(picture).convert("RGB").save(out, "PNG")
        return "png", out.getvalue()

"""Images for makers that read them: planes of one colour, or colours by halves."""

from collections.abc import Mapping

from PIL import Image

from making.makers import Images
from predictions.scorers import NoPicture

MISSING = "The image is missing. Import it again."


def plane(*levels: int) -> Image.Image:
    """Return a picture of 40 by 40 pixels whose halves, from the left, have these levels of grey."""
    picture = Image.new("RGB", (40, 40))
    width = 40 // len(levels)
    for number, level in enumerate(levels):
        picture.paste((level, level, level), (number * width, 0, 40, 40))
    return picture


def images_of(pictures: Mapping[str, Image.Image | None]) -> Images:
    """Return images by name; None is a missing one."""

    def open_picture(name: str) -> Image.Image:
        if (found := pictures.get(name)) is None:
            raise NoPicture(MISSING)
        return found

    return Images(list(pictures), open_picture)

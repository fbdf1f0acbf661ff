"""Find images in a frame of one colour, and take the frame off. Pure."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.image_sets.embeddings import Vectors, edges_by_cell

# Pixels of a frame differ from its colour by so much at most, of 255, but for as many of them: noise of compression.
_ALIKE, _NOISE = 24, 0.02
_SIDE = 256
# What is left of each side of an image without its frame. Thinner frames than a hundredth of a side are not taken off.
_LEAST_LEFT, _THINNEST = 0.4, 0.01
# Cells at the edge of an image show a frame if edges in other directions than its own have this share of what cells
# have at most. One of six may be otherwise.
_OTHER_EDGES, _CELLS_OF_SIDE = 0.15, 5


def may_have_frame(vectors: Vectors) -> NDArray[np.bool_]:
    """Tell which images could be framed at two opposite sides, by their vectors (`ColourAndGradient`).

    At the sides of others, more cells have edges that are not along the side.
    """
    strength = edges_by_cell(vectors) ** 2
    most = strength.sum(axis=3).max(axis=(1, 2))[:, None]
    # Directions are half a turn in eighths: 0 across a vertical line, 4 across a horizontal one.
    beside, above = strength[..., 2:7].sum(axis=3), strength[..., [0, 1, 2, 6, 7]].sum(axis=3)
    sides = (beside[:, 1:-1, 0], beside[:, 1:-1, -1], above[:, 0, 1:-1], above[:, -1, 1:-1])
    left, right, top, low = ((side <= _OTHER_EDGES * most).sum(axis=1) >= _CELLS_OF_SIDE for side in sides)
    return np.asarray((left & right) | (top & low))


def without_frame(picture: Image.Image) -> Image.Image | None:
    """Return what is inside a frame of one colour, at all sides or at two; None without a frame."""
    small = picture.convert("RGB")
    small.thumbnail((_SIDE, _SIDE), Image.Resampling.BOX, reducing_gap=3.0)
    pixels = np.asarray(small, np.int16)
    height, width = pixels.shape[:2]
    (top, low), (left, right) = _lines(pixels), _lines(pixels.swapaxes(0, 1))
    if not (top or left) or width - left - right < _LEAST_LEFT * width or height - top - low < _LEAST_LEFT * height:
        return None
    wide, high = picture.width / width, picture.height / height
    return picture.crop(
        (round(left * wide), round(top * high), round((width - right) * wide), round((height - low) * high))
    )


def _lines(pixels: NDArray[np.int16]) -> tuple[int, int]:
    """Return how many lines at both ends have one colour, and the one where each ends; twice 0 without a frame."""
    colour = np.median(np.concatenate([pixels[0], pixels[-1]]), axis=0)
    differ = (np.abs(pixels - colour).max(axis=2) > _ALIKE).mean(axis=1) > _NOISE
    if not differ.any():
        return 0, 0
    first, last = int(differ.argmax()), int(differ[::-1].argmax())
    if min(first, last) < _THINNEST * len(pixels):
        return 0, 0
    # At the end of a frame, its colour is mixed with that of the image.
    return first + 1, last + 1

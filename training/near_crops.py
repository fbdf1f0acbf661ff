"""Find images that show a part of others, also brighter, darker or in grey, by laying their pixels on each other. Pure.

First, the vector of an image is compared with those of windows of each protected image. Then the window of the nearest
few is moved and scaled until its pixels fit best (Lucas and Kanade 1981), up to one brightness and contrast for all. An
image is near if they fit everywhere, because scenes on one background differ in few places.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.image_sets.embeddings import WINDOWS, Vectors

Pixels = NDArray[np.uint8]
_Numbers = NDArray[np.floating[Any]]

# Measured on windows of photos and of drawn scenes; docs/training.md has the figures.
NEAR_BELOW = 0.5
# Of the vectors of windows, 1 - cosine.
_CANDIDATE_BELOW = 0.15
_MOST_CANDIDATES = 8
_SIDE, _SEEN, _CELLS = 64, 32, 8
# After a few steps, only those that fit best go on.
_FIRST_STEPS, _MOST_PROMISING = 1, 2
_HOPELESS = 0.8
_STEPS, _LARGEST_STEP = 8, 0.06
_SMALLEST, _MARGIN = 0.55, 0.04
# Pixels as dark or as bright as this may have been cut off when the brightness was changed.
_BLACK, _WHITE = 0.008, 0.96
# An image with fewer other pixels, or with less detail than this beside a gradient, looks like many others.
_LEAST_SEEN, _LEAST_DETAIL = 0.25, 0.025
# Images in grey must fit better: there is less to compare.
_GREY, _WITHOUT_COLOUR = 0.02, 4 / 3
_BRIGHTNESS = np.array([0.299, 0.587, 0.114], np.float32)
_AT = ((np.arange(_SEEN) + 0.5) / _SEEN).astype(np.float32)


def small_pixels(picture: Image.Image) -> Pixels:
    """Return what is compared of a picture, shape (64, 64, 3)."""
    return np.asarray(picture.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.BOX, reducing_gap=3.0))


class NearCrops:
    """Finds the image of which another shows a part.

    names: of the images. windows: the vectors of the windows of each image, shape (images, windows, dimensions), of
    length 1. pixels: the same images by `small_pixels`, shape (images, 64, 64, 3).
    """

    def __init__(self, names: Sequence[str], windows: Vectors, pixels: Pixels) -> None:
        self._names = names
        self._windows = windows
        self._pixels = pixels

    def __len__(self) -> int:
        return len(self._names)

    def candidates(self, vectors: Vectors) -> dict[int, list[tuple[int, int]]]:
        """Return place of an image -> the images and windows that may show it, nearest first."""
        images, windows, dimensions = self._windows.shape
        apart = np.empty((len(vectors), images), np.float32)
        nearest = np.empty((len(vectors), images), np.int16)
        for begin in range(0, images, 128):
            some = self._windows[begin : begin + 128].astype(np.float32).reshape(-1, dimensions)
            found = (1 - vectors @ some.T).reshape(len(vectors), -1, windows)
            apart[:, begin : begin + 128] = found.min(axis=2)
            nearest[:, begin : begin + 128] = found.argmin(axis=2)
        most = {}
        for place in np.flatnonzero((apart < _CANDIDATE_BELOW).any(axis=1)).tolist():
            order = np.argsort(apart[place], kind="stable")[:_MOST_CANDIDATES].tolist()
            near = [image for image in order if apart[place, image] < _CANDIDATE_BELOW]
            most[place] = [(image, int(nearest[place, image])) for image in near]
        return most

    def nearest(self, pixels: Pixels, candidates: Sequence[tuple[int, int]]) -> tuple[float, str] | None:
        """Return how badly `pixels` fit the image that they fit best, with its name; None if none is near."""
        images = [image for image, _ in candidates]
        apart = misfits(self._pixels[images], pixels, np.array([_window(number) for _, number in candidates]))
        least = int(apart.argmin())
        return (round(float(apart[least]), 4), self._names[images[least]]) if apart[least] < NEAR_BELOW else None


def _window(number: int) -> tuple[float, float, float, float]:
    """Return left, top, width and height of a window, as shares of the image."""
    left, top, right, bottom = WINDOWS[number]
    return left, top, 1 - left - right, 1 - top - bottom


def misfits(wholes: Pixels, part: Pixels, windows: _Numbers) -> _Numbers:
    """Return how badly `part` fits the best window of each of `wholes` at its worst place, in its standard deviations.

    windows: where the search begins. Infinite where there is too little to compare.
    """
    colours = (part.astype(np.float32) / 255).reshape(_SEEN, 2, _SEEN, 2, 3).mean(axis=(1, 3))
    is_cut = (colours.min(axis=2) < _BLACK) | (colours.max(axis=2) > _WHITE)
    weights = np.asarray(1 - np.minimum(1, 4 * _blurred(is_cut[None].astype(np.float32))), np.float32)
    colours = _blurred(colours[None])
    seen = colours @ _BRIGHTNESS
    detail = _detail(seen[0], weights[0])
    nothing = np.full(len(wholes), np.inf)
    if detail < _LEAST_DETAIL:
        return nothing
    whole_colours = _blurred(wholes.astype(np.float32) / 255)
    whole = whole_colours @ _BRIGHTNESS
    down, right = (np.asarray(each) for each in np.gradient(whole, axis=(1, 2)))
    places, found = np.arange(len(wholes)), windows.astype(np.float32)
    least, best = np.full(len(wholes), np.inf), found.copy()
    for step in range(_STEPS + 1):
        shown = _sample(whole[places], found)
        fitted, gain = _fit(shown, seen, weights)
        rest = np.asarray((seen - fitted) * weights)
        error = (rest**2).mean(axis=(1, 2))
        better = error < least[places]
        least[places[better]], best[places[better]] = error[better], found[better]
        if step == _STEPS:
            break
        if step == _FIRST_STEPS:
            if np.sqrt(error.min()) > _HOPELESS * detail:
                return nothing
            promising = np.argsort(error, kind="stable")[:_MOST_PROMISING]
            places, found, rest = places[promising], found[promising], rest[promising]
            shown, gain = shown[promising], gain[promising]
        across, along = (_sample(each[places], found) * gain * _SIDE for each in (right, down))
        sloped = np.stack([across, along, across * _AT, along * _AT[:, None], shown, np.ones_like(shown)], axis=-1)
        sloped = (sloped * weights[..., None]).reshape(len(places), -1, 6)
        turned = sloped.transpose(0, 2, 1)
        normal = turned @ sloped + 1e-4 * np.eye(6, dtype=np.float32)
        moved = np.linalg.solve(normal, turned @ rest.reshape(len(places), -1, 1))[:, :4, 0]
        found = found + np.clip(moved, -_LARGEST_STEP, _LARGEST_STEP)
        found[:, 2:] = np.clip(found[:, 2:], _SMALLEST, 1 + _MARGIN)
        found[:, :2] = np.clip(found[:, :2], -_MARGIN, 1 + _MARGIN - found[:, 2:])
    best = best[places]
    fitted, gain = _fit(_sample(whole[places], best), seen, weights)
    worst = _worst_cell(((seen - fitted) * weights)[..., None])
    hue, own = (
        _sample((whole_colours - whole[..., None])[places], best),
        (colours - seen[..., None]) * weights[..., None],
    )
    hue = hue * weights[..., None]
    # Images in grey have the hue of all in no strength.
    strength = (hue * own).sum(axis=(1, 2, 3)) / np.maximum((hue**2).sum(axis=(1, 2, 3)), 1e-6)
    of_colour = _worst_cell(own - np.maximum(0, strength)[:, None, None, None] * hue)
    if np.abs(own).max() < _GREY:
        worst = worst * _WITHOUT_COLOUR
    nothing[places] = np.where(gain[:, 0, 0] > 0, np.maximum(worst, of_colour) / detail, np.inf)
    return nothing


def _fit(shown: _Numbers, seen: _Numbers, weights: _Numbers) -> tuple[_Numbers, _Numbers]:
    """Return `shown` in the brightness and contrast that fit `seen` best, and that contrast."""
    total = weights.sum()
    mean_shown = (shown * weights).sum(axis=(1, 2), keepdims=True) / total
    mean_seen = (seen * weights).sum(axis=(1, 2), keepdims=True) / total
    around = (shown - mean_shown) * weights
    gain = (around * (seen - mean_seen)).sum(axis=(1, 2), keepdims=True) / np.maximum(
        (around**2).sum(axis=(1, 2), keepdims=True), 1e-6
    )
    return mean_seen + gain * (shown - mean_shown), gain


def _sample(images: _Numbers, windows: _Numbers) -> _Numbers:
    """Return the windows of images, each with its own, shape (images, 32, 32, ...), interpolated."""
    of = np.arange(len(images))[:, None, None]
    across = np.clip((windows[:, :1] + windows[:, 2:3] * _AT) * _SIDE - 0.5, 0, _SIDE - 1.001)[:, None, :]
    along = np.clip((windows[:, 1:2] + windows[:, 3:] * _AT) * _SIDE - 0.5, 0, _SIDE - 1.001)[:, :, None]
    left, top = across.astype(int), along.astype(int)
    right_share, low_share = across - left, along - top
    if images.ndim > 3:
        right_share, low_share = right_share[..., None], low_share[..., None]
    above = images[of, top, left] * (1 - right_share) + images[of, top, left + 1] * right_share
    below = images[of, top + 1, left] * (1 - right_share) + images[of, top + 1, left + 1] * right_share
    return _blurred(above * (1 - low_share) + below * low_share)


def _blurred(images: _Numbers) -> _Numbers:
    """Return images in rows, each pixel mixed with its neighbours."""
    for axis in (1, 2):
        padded = np.concatenate([images.take([0], axis), images, images.take([-1], axis)], axis)
        size = images.shape[axis]
        before, after = padded.take(range(size), axis), padded.take(range(2, size + 2), axis)
        images = (before + 2 * images + after) / 4
    return images


def _detail(seen: _Numbers, weights: _Numbers) -> float:
    """Return the standard deviation of brightness around an even gradient; 0 where too little is left of an image."""
    if weights.mean() < _LEAST_SEEN:
        return 0.0
    across, along = np.meshgrid(_AT, _AT)
    plane = np.stack([across.ravel(), along.ravel(), np.ones(_SEEN * _SEEN)], axis=1)
    kept = weights.ravel()[:, None]
    rest = seen.ravel() - plane @ np.linalg.lstsq(plane * kept, seen.ravel() * kept[:, 0], rcond=None)[0]
    return float(np.sqrt((rest**2 * kept[:, 0]).sum() / kept.sum()))


def _worst_cell(rest: _Numbers) -> _Numbers:
    """Return the largest root mean square of the cells of each image."""
    side = _SEEN // _CELLS
    cells = (rest**2).sum(axis=-1).reshape(-1, _CELLS, side, _CELLS, side).mean(axis=(2, 4))
    return np.asarray(np.sqrt(cells.max(axis=(1, 2))))

"""Image embeddings: one vector per image; the angle between two vectors measures how similar the images are."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.feeder import NoPicture, OpenPicture, shared_feeder
from predictions.scorers import CannotLoad, OutOfMemory, scorer_of
from predictions.scorers.batches import in_batches, pad_rows
from predictions.scorers.contrastive import Contrastive

Vectors = NDArray[np.float32]
_Numbers = NDArray[np.floating[Any]]

_DIGITS_OF_WEIGHTS = 12
# Sets have dozens of images, and a partial batch is padded.
_MOST_AT_ONCE = 64
_SIDE, _CELLS, _DIRECTIONS = 64, 8, 8
# Weaker edges are mostly compression noise, so a cell with no stronger ones counts for less.
_FLAT = 10 / 255


_BRIGHTNESS = np.array([0.299, 0.587, 0.114])


def _windows() -> tuple[tuple[float, float, float, float], ...]:
    """Return the whole image, and windows of four sizes at evenly spaced places."""
    found = [(0.0, 0.0, 0.0, 0.0)]
    for size, steps in ((0.92, 2), (0.84, 3), (0.76, 4), (0.69, 5)):
        places = [place * (1 - size) / (steps - 1) for place in range(steps)]
        found += [(left, top, 1 - size - left, 1 - size - top) for top in places for left in places]
    return tuple(found)


# What is cut off at the left, top, right and bottom, as shares of the width and the height.
WINDOWS = _windows()


GAINS = (1.2, 1.35, 1.5, 1.75)


class NoEmbedding(Exception):
    """The image embedding does not exist; the message is for people and says what to do."""


class Embedding(Protocol):
    """Turns images into vectors. `name`: method and version; vectors of different names are never compared."""

    name: str

    def embed(self, pictures: Sequence[Image.Image]) -> Vectors:
        """Return a vector of length 1 for each of `pictures` (8-bit sRGB), shape (images, dimensions)."""


class ColourAndGradient:
    """Mean colours and edge directions by region, for use without a model.

    It measures layout, not content: two images are similar if colours and edges are at the same places. An image is
    scaled to 64 x 64 pixels and cut into 8 x 8 cells. Half of the vector is the mean red, green and blue of each cell,
    around the middle of their range. The other half is the strength of its edges in eight directions, whichever side is
    brighter (histograms of oriented gradients, Dalal and Triggs 2005, without overlapping blocks). Both have equal
    weight.
    """

    name = "colour-and-gradient-v1"

    def embed(self, pictures: Sequence[Image.Image]) -> Vectors:
        if not pictures:
            return np.empty((0, _CELLS * _CELLS * (3 + _DIRECTIONS)), np.float32)
        return np.stack([self._of(picture) for picture in pictures])

    def _of(self, picture: Image.Image) -> Vectors:
        small = picture.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.BOX, reducing_gap=3.0)
        pixels = np.asarray(small, np.float32) / 255
        colours = _by_cell(pixels).mean(axis=2) - 0.5
        both = np.concatenate([_of_length_one(colours.ravel()), _of_length_one(_edges(pixels).ravel())])
        return _of_length_one(both)

    def mirrored(self, vectors: Vectors) -> Vectors:
        """Return the vectors of the same images mirrored left to right, in rows."""
        colours, edges = _halves(vectors)
        turned = edges[:, :, ::-1][..., -np.arange(_DIRECTIONS) % _DIRECTIONS]
        return _joined(colours[:, :, ::-1], turned)

    def turned(self, vectors: Vectors) -> Vectors:
        """Return the vectors of the same images turned by 90 degrees to the left, in rows."""
        colours, edges = (np.rot90(each, axes=(1, 2)) for each in _halves(vectors))
        return _joined(colours, np.roll(edges, _DIRECTIONS // 2, axis=3))

    def levelled(self, vectors: Vectors) -> Vectors:
        """Return vectors that are the same whatever the colour, the brightness and the contrast of images, in rows."""
        grey, edges = _grey_halves(vectors)
        return _joined(np.repeat(grey / np.float32(np.sqrt(3)), 3, axis=-1), edges)

    def layout(self, vectors: Vectors) -> Vectors:
        """Return `levelled` vectors with fewer directions of edges, which are quicker to compare."""
        grey, edges = _grey_halves(vectors)
        coarse = edges.reshape(len(edges), _CELLS // 2, 2, _CELLS // 2, 2, _DIRECTIONS).sum(axis=(2, 4))
        return _joined(grey, _half_length(coarse))

    def brighter(self, pictures: Sequence[Image.Image]) -> Vectors:
        """Return the vectors of each image made brighter by `GAINS`, shape (images, gains, dimensions).

        The brightest places lose what they show, so `levelled` alone does not tell.
        """
        return np.stack([self.embed([_brighten(each, gain) for gain in GAINS]) for each in pictures])

    def windows(self, pictures: Sequence[Image.Image]) -> Vectors:
        """Return the `layout` of the `WINDOWS` of each image, shape (images, windows, dimensions)."""
        return np.stack([self.layout(self.embed([_crop(each, edges) for edges in WINDOWS])) for each in pictures])


def embed_each(
    names: Iterable[str], open_picture: OpenPicture, embedding: ColourAndGradient
) -> dict[str, Vectors | NoPicture]:
    """Return the vector of each image, or why there is none; the threads of the feeder read and embed them."""
    reading = shared_feeder().read(
        dict.fromkeys(names), open_picture, lambda picture: embedding.embed([picture])[0], ahead=_MOST_AT_ONCE
    )
    with closing(reading):
        return dict(reading)


class ModelEmbedding:
    """The vectors of a contrastive model's image tower."""

    def __init__(self, model: Contrastive) -> None:
        known = model.identity
        # The digest of the weights is part of the name, because another checkpoint is another embedding.
        self.name = " ".join(filter(None, (known.name, known.version, known.weights[:_DIGITS_OF_WEIGHTS])))
        self._model = model
        self._batch = min(model.batch, _MOST_AT_ONCE)

    def embed(self, pictures: Sequence[Image.Image]) -> Vectors:
        """See `Embedding.embed`. Halves a batch that does not fit into memory.

        Raises OutOfMemory if a single image does not fit.
        """
        while True:
            try:
                return self._embed(pictures)
            except OutOfMemory:
                if self._batch == 1:
                    raise
                self._batch //= 2

    def _embed(self, pictures: Sequence[Image.Image]) -> Vectors:
        model, size = self._model, self._batch
        rows: list[Vectors] = []
        for batch in in_batches(pictures, size) if pictures else [[Image.new("RGB", (8, 8))]]:
            vectors = model.embed_pictures(pad_rows([model.preprocess(picture) for picture in batch], size))
            rows += [_of_length_one(vector.astype(np.float64)) for vector in vectors[: len(batch)]]
        return np.stack(rows)[: len(pictures)]


def embedding_of(spec: str) -> Embedding:
    """Load the model that `spec` names (`predictions.scorers`) and return its image embedding.

    Without a spec: `ColourAndGradient`. Raises NoEmbedding.
    """
    if not spec:
        return ColourAndGradient()
    try:
        model = scorer_of(spec)
    except CannotLoad as error:
        raise NoEmbedding(str(error)) from error
    if not isinstance(model, Contrastive):
        raise NoEmbedding(f"{spec} gives no image embeddings. Name a contrastive model, such as CLIP.")
    return ModelEmbedding(model)


def edges_by_cell(vectors: Vectors) -> Vectors:
    """Return the strength of edges of `ColourAndGradient` vectors, shape (n, 8, 8, 8): row, column, direction."""
    return _halves(vectors)[1]


def _halves(vectors: Vectors) -> tuple[Vectors, Vectors]:
    """Return colours and edges of vectors in rows, by row and column of their cells."""
    colours = vectors[:, : _CELLS * _CELLS * 3].reshape(-1, _CELLS, _CELLS, 3)
    return colours, vectors[:, _CELLS * _CELLS * 3 :].reshape(-1, _CELLS, _CELLS, _DIRECTIONS)


def _grey_halves(vectors: Vectors) -> tuple[Vectors, Vectors]:
    """Return the brightness of each cell around its mean, and edges, both halves of a vector of length 1."""
    colours, edges = _halves(vectors)
    grey = (colours @ _BRIGHTNESS.astype(np.float32))[..., None]
    return _half_length(grey - grey.mean(axis=(1, 2), keepdims=True)), edges


def _half_length(parts: Vectors) -> Vectors:
    """Scale parts of vectors so that each is half of a vector of length 1, squared; none where there is nothing."""
    lengths = np.sqrt(2 * (parts**2).sum(axis=(1, 2, 3), keepdims=True))
    return np.asarray(np.divide(parts, lengths, out=np.zeros_like(parts), where=lengths > 1e-6), np.float32)


def _joined(colours: Vectors, edges: Vectors) -> Vectors:
    return np.concatenate([colours.reshape(len(colours), -1), edges.reshape(len(edges), -1)], axis=1)


def _crop(picture: Image.Image, edges: tuple[float, ...]) -> Image.Image:
    left, top, right, bottom = edges
    width, height = picture.size
    box = (left * width, top * height, (1 - right) * width, (1 - bottom) * height)
    return picture.crop((round(box[0]), round(box[1]), round(box[2]), round(box[3])))


def _brighten(picture: Image.Image, gain: float) -> Image.Image:
    return picture.convert("RGB").point([min(255, round(gain * level)) for level in range(256)] * 3)


def _edges(pixels: _Numbers) -> _Numbers:
    """Return the strength of each cell's edges by direction, each cell normalized to length 1 unless it is flat."""
    brightness = pixels @ _BRIGHTNESS
    down, right = np.gradient(brightness)
    strength = np.hypot(down, right)
    # An edge between two directions counts for both, so that noise cannot move it from one to the other.
    direction = (np.arctan2(down, right) / np.pi * _DIRECTIONS)[..., None] % _DIRECTIONS
    away = np.abs(direction - np.arange(_DIRECTIONS))
    share = np.maximum(0, 1 - np.minimum(away, _DIRECTIONS - away))
    by_direction = strength[..., None] * share
    cells = _by_cell(by_direction).sum(axis=2)
    lengths = np.linalg.norm(cells, axis=-1, keepdims=True)
    return np.asarray(cells / np.maximum(lengths, _FLAT * _SIDE))


def _by_cell(values: _Numbers) -> _Numbers:
    """Return values of shape (side, side, n) as (cells, cells, pixels of a cell, n)."""
    side = _SIDE // _CELLS
    cut = values.reshape(_CELLS, side, _CELLS, side, -1).swapaxes(1, 2)
    return cut.reshape(_CELLS, _CELLS, side * side, -1)


def _of_length_one(vector: _Numbers) -> Vectors:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length else vector, np.float32)


def distances(vectors: Vectors, others: Vectors) -> Vectors:
    """Return the distance of each of `vectors` from each of `others`: 1 - cosine, from 0 (same direction) to 2.

    Shapes (n, dimensions) and (m, dimensions), all of length 1; returns (n, m).
    """
    return np.asarray(np.clip(1 - vectors @ others.T, 0, 2), np.float32)

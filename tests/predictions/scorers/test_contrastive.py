"""What all models of two towers share, on one whose vectors can be worked out by hand."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from predictions.scorers import ModelIdentity, OutOfMemory
from predictions.scorers.contrastive import Contrastive

FITS = 4


class ByHand(Contrastive):
    """The vector of a picture is its mean colour, that of a text what it says: "1,0,0" is red."""

    def __init__(self, *, batch: int = 16, fits: int = 16) -> None:
        super().__init__(ModelIdentity("by hand", "", "none"), batch=batch)
        self.fits = fits
        self.shapes: list[tuple[int, ...]] = []

    def facts(self) -> Mapping[str, Any]:
        return {"dtype": "float32"}

    def preprocess(self, picture: Image.Image) -> NDArray[Any]:
        mean: NDArray[Any] = np.asarray(picture, dtype=np.float32).mean(axis=(0, 1))
        return mean

    def tokenize(self, text: str) -> NDArray[Any]:
        return np.array([float(part) for part in text.split(",")], dtype=np.float32)

    def embed_pictures(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        return self._embed(batch)

    def embed_texts(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        return self._embed(batch)

    def _embed(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        self.shapes.append(batch.shape)
        if len(batch) > self.fits:
            raise OutOfMemory
        return batch.astype(np.float32)


COLOURS = {"red": (255, 0, 0), "yellow": (255, 255, 0), "black": (0, 0, 0)}
PAIRS = [("1,0,0", "red"), ("0,2,0", "red"), ("1,0,0", "yellow"), ("3,4,0", "yellow"), ("1,1,1", "black")]
# Cosines: 1, 0, 1/sqrt(2), 7/(5 sqrt(2)); a vector of zeros has no direction, and is given 0.
COSINES = [1, 0, 0.5**0.5, 1.4 * 0.5**0.5, 0]


def open_picture(name: str) -> Image.Image:
    return Image.new("RGB", (5, 4), COLOURS[name.partition(" ")[0]])


def test_a_score_is_the_cosine() -> None:
    assert ByHand().score(PAIRS, open_picture) == pytest.approx(COSINES, abs=1e-6)


def test_every_batch_has_one_shape() -> None:
    scorer = ByHand(batch=2)
    scorer.score(PAIRS, open_picture)
    assert set(scorer.shapes) == {(2, 3)}
    # Four different texts, and three pictures.
    assert len(scorer.shapes) == 2 + 2


def test_a_batch_that_does_not_fit_is_halved_and_the_record_says_so() -> None:
    scorer = ByHand(batch=16, fits=FITS)
    assert scorer.score(PAIRS, open_picture) == pytest.approx(COSINES, abs=1e-6)
    assert scorer.conditions() == {"dtype": "float32", "score": "cosine", "batch": FITS, "halved": 2}
    # It stays so, and is not tried again.
    scorer.shapes.clear()
    scorer.score([("1,0,1", "red again")], open_picture)
    assert set(scorer.shapes) == {(FITS, 3)}


def test_vectors_of_before_it_was_halved_are_not_mixed_in() -> None:
    scorer = ByHand(batch=16)
    scorer.score(PAIRS, open_picture)
    scorer.fits = 8
    opened: Counter[str] = Counter()

    def count(name: str) -> Image.Image:
        opened[name] += 1
        return open_picture(name)

    scorer.score([*PAIRS, ("0,0,1", "red again")], count)
    assert set(opened) == {"red", "yellow", "black", "red again"}


def test_when_not_even_one_fits_that_is_said() -> None:
    with pytest.raises(OutOfMemory):
        ByHand(fits=0).score(PAIRS, open_picture)
    with pytest.raises(OutOfMemory):
        ByHand(fits=0).pictures_per_second()


def test_each_picture_and_text_is_looked_at_once() -> None:
    opened: Counter[str] = Counter()

    def count(name: str) -> Image.Image:
        opened[name] += 1
        return open_picture(name)

    scorer = ByHand()
    first = scorer.score(PAIRS, count)
    embedded = len(scorer.shapes)
    assert scorer.score(list(reversed(PAIRS)), count) == list(reversed(first))
    assert opened == Counter({"red": 1, "yellow": 1, "black": 1})
    assert len(scorer.shapes) == embedded

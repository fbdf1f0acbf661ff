"""What all models of two towers share, on one whose vectors can be worked out by hand."""

from collections import Counter

import pytest

from predictions.scorers import OutOfMemory
from tests.predictions.by_colour import ByColour

FITS = 4
PAIRS = [
    *(("it is red", "red"), ("it is green", "red"), ("it is red", "yellow")),
    *(("it is red and green", "yellow"), ("it is white", "black")),
]
# Cosines: 1, 0, 1/sqrt(2), 7/(5 sqrt(2)); a vector of zeros has no direction, and is given 0.
COSINES = [1, 0, 0.5**0.5, 1.4 * 0.5**0.5, 0]


def test_a_score_is_the_cosine_and_every_batch_has_one_shape() -> None:
    scorer = ByColour(batch=2)
    assert scorer.score(PAIRS, scorer.open) == pytest.approx(COSINES, abs=1e-6)
    # Four different texts, and three pictures.
    assert scorer.shapes == [(2, 3)] * (2 + 2)


def test_a_batch_that_does_not_fit_is_halved_and_the_record_says_so() -> None:
    scorer = ByColour(fits=FITS)
    assert scorer.score(PAIRS, scorer.open) == pytest.approx(COSINES, abs=1e-6)
    assert scorer.conditions() == {"dtype": "float32", "score": "cosine", "batch": FITS, "halved": 2}
    # It stays so, and is not tried again.
    scorer.shapes.clear()
    scorer.score([("it is blue", "red again")], scorer.open)
    assert set(scorer.shapes) == {(FITS, 3)}


def test_vectors_of_before_it_was_halved_are_not_mixed_in() -> None:
    scorer = ByColour()
    scorer.score(PAIRS, scorer.open)
    scorer.fits = 8
    scorer.opened.clear()
    scorer.score([*PAIRS, ("it is blue", "red again")], scorer.open)
    assert set(scorer.opened) == {"red", "yellow", "black", "red again"}


def test_when_not_even_one_fits_that_is_said() -> None:
    scorer = ByColour(fits=0)
    with pytest.raises(OutOfMemory):
        scorer.score(PAIRS, scorer.open)
    with pytest.raises(OutOfMemory):
        ByColour(fits=0).pictures_per_second()


def test_each_picture_and_text_is_looked_at_once() -> None:
    scorer = ByColour()
    first = scorer.score(PAIRS, scorer.open)
    embedded = len(scorer.shapes)
    assert scorer.score(list(reversed(PAIRS)), scorer.open) == list(reversed(first))
    assert scorer.opened == Counter({"red": 1, "yellow": 1, "black": 1})
    assert len(scorer.shapes) == embedded

"""Vectors of a model in place of those by colour and gradient, with a model that anybody can compute."""

from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from numpy.typing import NDArray
from PIL import Image

from predictions.image_sets.embeddings import NoEmbedding, OfModel, distances, embedding_of
from predictions.scorers import SCORERS, CannotLoad, ModelIdentity, OutOfMemory, Scorer
from predictions.scorers.contrastive import Contrastive
from tests.predictions.image_sets.test_set_maker import ball


class MeanColour(Contrastive):
    """The vector of a picture is its mean colour; a batch of more than `fits` pictures does not fit."""

    def __init__(self, weights: str = "w", fits: int = 4) -> None:
        super().__init__(ModelIdentity("mean colour", "1", weights * 64), batch=8)
        self.fits = fits
        self.shapes: list[tuple[int, ...]] = []

    def facts(self) -> Mapping[str, Any]:
        return {}

    def preprocess(self, picture: Image.Image) -> NDArray[Any]:
        return np.asarray(picture.convert("RGB").resize((2, 2)), np.float32)

    def tokenize(self, text: str) -> NDArray[Any]:
        return np.zeros(1, np.float32)

    def embed_pictures(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        if len(batch) > self.fits:
            raise OutOfMemory
        self.shapes.append(batch.shape)
        return np.asarray(batch.mean(axis=(1, 2)), np.float32)

    def embed_texts(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        return np.zeros((len(batch), 3), np.float32)


class Bare(Scorer):
    identity = ModelIdentity("bare", "", "")

    def conditions(self) -> Mapping[str, Any]:
        return {}

    def score(self, pairs: Sequence[tuple[str, str]], open_picture: Any) -> Sequence[float]:
        return [0.0] * len(pairs)

    def pictures_per_second(self) -> float:
        return 1.0


def load(rest: str) -> Scorer:
    if rest == "gone":
        raise CannotLoad("It is gone. Name another.")
    return Bare() if rest == "bare" else MeanColour(rest)


@pytest.fixture
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCORERS, "made-up", f"{__name__}.load")


def plain(*colour: int) -> Image.Image:
    return Image.new("RGB", (30, 20), colour)


def test_a_picture_has_the_models_vector_at_length_one() -> None:
    # (0, 60, 80) is 100 long, so its vector is (0, .6, .8); the cosine with (0, 0, 1) is .8.
    vectors = OfModel(MeanColour()).embed([plain(0, 60, 80), plain(0, 0, 200)])
    assert vectors.tolist() == [pytest.approx([0, 0.6, 0.8]), pytest.approx([0, 0, 1])]
    assert distances(vectors[:1], vectors[1:])[0, 0] == pytest.approx(0.2)


def test_batches_are_of_one_shape_and_halved_until_they_fit() -> None:
    model = MeanColour(fits=2)
    assert len(OfModel(model).embed([plain(n, 1, 2) for n in range(5)])) == 5
    assert model.shapes == [(2, 2, 2, 3)] * 3


def test_where_not_even_one_picture_fits_that_is_said() -> None:
    with pytest.raises(OutOfMemory):
        OfModel(MeanColour(fits=0)).embed([plain(1, 2, 3)])


def test_no_pictures_are_no_rows_of_the_right_length() -> None:
    assert OfModel(MeanColour()).embed([]).shape == (0, 3)


@pytest.mark.usefixtures("_made_up")
def test_an_embedding_is_named_by_the_models_weights() -> None:
    assert embedding_of("made-up:w").name == "mean colour 1 wwwwwwwwwwww"
    assert embedding_of("").name == "colour-and-gradient-v1"


@pytest.mark.usefixtures("_made_up")
@pytest.mark.parametrize(
    ("spec", "why"),
    [("made-up:bare", "no vectors of their own"), ("made-up:gone", "It is gone"), ("other:x", "family 'other'")],
)
def test_what_gives_no_vectors_is_refused_with_a_sentence(spec: str, why: str) -> None:
    with pytest.raises(NoEmbedding, match=why):
        embedding_of(spec)


def make(photos: Path, out: Path, *options: str) -> str:
    said = StringIO()
    call_command(
        *("make_image_sets", "balls", "--photos", str(photos), "--only-make", "--embedding", "made-up:w", *options),
        out=out,
        verbosity=0,
        stdout=said,
    )
    return said.getvalue()


@pytest.mark.django_db
@pytest.mark.usefixtures("_made_up")
def test_sets_are_made_with_the_embedding_of_a_model(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    for number in range(10):
        ball(10 * number).save(tmp_path / f"photos/{number}.png")
    with pytest.raises(CommandError, match="Say --same-below"):
        make(tmp_path / "photos", tmp_path / "out")
    said = make(tmp_path / "photos", tmp_path / "out", "--same-below", "0")
    assert "1 sets of ten from 10 photos, by mean colour 1 wwwwwwwwwwww." in said
    table = (tmp_path / "out/sets.csv").read_text(encoding="utf-8")
    assert "mean colour 1 wwwwwwwwwwww" in table
    with pytest.raises(CommandError, match="was begun with other options"):
        make(tmp_path / "photos", tmp_path / "out", "--same-below", "0", "--embedding", "made-up:v")

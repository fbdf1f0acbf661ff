"""Vectors of a model in place of those by colour and gradient, with a model that anybody can compute."""

from io import StringIO
from pathlib import Path
from threading import current_thread

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image, ImageOps

from predictions.feeder import NoPicture
from predictions.image_sets import videos
from predictions.image_sets.embeddings import (
    GAINS,
    WINDOWS,
    ColourAndGradient,
    ModelEmbedding,
    NoEmbedding,
    distances,
    embed_each,
    embedding_of,
)
from predictions.image_sets.videos import open_picture, open_pictures
from predictions.scorers import SCORERS, OutOfMemory
from tests.predictions.by_colour import ByColour
from tests.predictions.image_sets.test_set_maker import ball
from tests.predictions.plain_scorer import BROKEN


@pytest.fixture
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCORERS, "made-up", "tests.predictions.by_colour.load")


def plain(*colour: int) -> Image.Image:
    return Image.new("RGB", (30, 20), colour)


def test_vectors_of_altered_images_are_those_of_images_that_were_altered() -> None:
    drawn = [ball(20), ball(90)]
    embedding = ColourAndGradient()
    vectors = embedding.embed(drawn)
    mirrored = embedding.embed([ImageOps.mirror(each) for each in drawn])
    assert distances(embedding.mirrored(vectors), mirrored).diagonal().max() < 2e-3
    assert distances(vectors, mirrored).diagonal().min() > 0.02
    for turns in (1, 2, 3):
        turned = embedding.embed([each.rotate(90 * turns, expand=True) for each in drawn])
        expected = vectors
        for _ in range(turns):
            expected = embedding.turned(expected)
        assert distances(expected, turned).diagonal().max() < 2e-3
        assert distances(vectors, turned).diagonal().min() > 0.02
    # Darker by half, around the middle of the range, and in grey.
    grey = embedding.embed([each.convert("L").point(lambda level: 96 + level // 2).convert("RGB") for each in drawn])
    levelled, levelled_grey = embedding.levelled(vectors), embedding.levelled(grey)
    assert distances(levelled, levelled_grey).diagonal().max() < 2e-3
    assert distances(vectors, grey).diagonal().min() > 0.02
    assert distances(embedding.layout(vectors), embedding.layout(grey)).diagonal().max() < 2e-3
    assert np.linalg.norm(embedding.layout(vectors), axis=1) == pytest.approx([1, 1], abs=1e-3)
    black = embedding.levelled(embedding.embed([plain(128, 128, 128)]))
    assert np.isfinite(black).all()


def test_windows_begin_with_the_whole_image_and_brighter_ones_lose_their_brightest_places() -> None:
    drawn = [ball(20), ball(90)]
    embedding = ColourAndGradient()
    windows = embedding.windows(drawn)
    # 1 + 4 + 9 + 16 + 25
    assert windows.shape == (2, 55, 192)
    assert np.array_equal(windows[:, 0], embedding.layout(embedding.embed(drawn)))
    assert WINDOWS[1] == pytest.approx((0, 0, 0.08, 0.08))
    width, height = drawn[1].size
    first = drawn[1].crop((0, 0, round(0.92 * width), round(0.92 * height)))
    assert np.array_equal(windows[1, 1], embedding.layout(embedding.embed([first]))[0])
    twice = embedding.embed([plain(200, 100, 0).point(lambda level: min(255, round(level * GAINS[1])))])
    assert np.array_equal(embedding.brighter([plain(200, 100, 0)])[0, 1], twice[0])


def test_a_picture_has_the_models_vector_at_length_one() -> None:
    # (0, 60, 80) is 100 long, so its vector is (0, .6, .8); the cosine with (0, 0, 1) is .8.
    vectors = ModelEmbedding(ByColour()).embed([plain(0, 60, 80), plain(0, 0, 200)])
    assert vectors.tolist() == [pytest.approx([0, 0.6, 0.8]), pytest.approx([0, 0, 1])]
    assert distances(vectors[:1], vectors[1:])[0, 0] == pytest.approx(0.2)


def test_batches_are_of_one_shape_and_halved_until_they_fit() -> None:
    model = ByColour(fits=2)
    assert len(ModelEmbedding(model).embed([plain(n, 1, 2) for n in range(5)])) == 5
    assert [shape for shape in model.shapes if shape[0] <= 2] == [(2, 3)] * 3


def test_where_not_even_one_picture_fits_that_is_said() -> None:
    with pytest.raises(OutOfMemory):
        ModelEmbedding(ByColour(fits=0)).embed([plain(1, 2, 3)])


def test_no_pictures_are_no_rows_of_the_right_length() -> None:
    assert ModelEmbedding(ByColour()).embed([]).shape == (0, 3)


def test_images_without_a_model_and_files_of_photos_are_read_by_the_threads_of_the_feeder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = set()

    def open_plain(name: str) -> Image.Image:
        threads.add(current_thread().name.partition("_")[0])
        if name == "gone":
            raise NoPicture("It is gone.")
        return plain(250, 0, 0)

    found = embed_each(["one", "gone", "two", "one"], open_plain, ColourAndGradient())
    assert list(found) == ["one", "gone", "two"]
    assert str(found["gone"]) == "It is gone."
    assert np.array_equal(np.asarray(found["one"]), ColourAndGradient().embed([plain(250, 0, 0)])[0])

    def open_file(path: Path) -> Image.Image:
        threads.add(current_thread().name.partition("_")[0])
        return open_picture(path)

    monkeypatch.setattr(videos, "open_picture", open_file)
    plain(1, 2, 3).save(tmp_path / "good.png")
    (tmp_path / "bad.png").write_bytes(b"no image")
    pictures, problems = open_pictures({"b": tmp_path / "bad.png", "g": tmp_path / "good.png"})
    assert list(pictures) == ["g"]
    assert [problem.startswith("bad.png cannot be read as an image") for problem in problems] == [True]
    assert threads == {"decode"}


@pytest.mark.usefixtures("_made_up")
def test_an_embedding_is_named_by_the_models_weights() -> None:
    assert embedding_of("made-up:w").name == "by colour 1 wwwwwwwwwwww"
    assert embedding_of("").name == "colour-and-gradient-v1"


@pytest.mark.usefixtures("_made_up")
@pytest.mark.parametrize(
    ("spec", "why"), [("plain:w", "no image embeddings"), ("plain:broken", BROKEN), ("other:x", "family 'other'")]
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
    with pytest.raises(CommandError, match="Give --same-below"):
        make(tmp_path / "photos", tmp_path / "out")
    said = make(tmp_path / "photos", tmp_path / "out", "--same-below", "0")
    assert "1 sets of ten from 10 photos, by by colour 1 wwwwwwwwwwww." in said
    table = (tmp_path / "out/sets.csv").read_text(encoding="utf-8")
    assert "by colour 1 wwwwwwwwwwww" in table
    with pytest.raises(CommandError, match="was begun with other options"):
        make(tmp_path / "photos", tmp_path / "out", "--same-below", "0", "--embedding", "made-up:v")

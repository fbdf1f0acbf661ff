import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from PIL import Image

from predictions.scorers import CannotLoad
from simulation.demo.pictures import draw_scene
from simulation.demo.scenes import LEFT, Scene, Thing
from tests.evaluation.protocols.written import write

RELEASE = {
    "bivlc.csv": "image,caption,negative_caption,negative_image,type,subtype\n"
    "red.png,red,blue,blue.png,replace,att\n"
    "green.png,green,red,red.png,replace,att\n"
}
COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255)}


class Painter:
    """A model that knows three colours: a text is its colour, a picture the colour of its first pixel."""

    batch = 2

    def score(self, pairs: Sequence[tuple[str, str]], open_picture: Callable[[str], Image.Image]) -> list[Any]:
        return [self._score(text, open_picture(image)) for text, image in pairs]

    def _score(self, text: str, picture: Image.Image) -> float:
        colour: Any = picture.getpixel((0, 0))
        return float(np.dot(colour, COLOURS[text]))


@pytest.fixture
def scorers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a worker's scorers load, by spec; anything else cannot be loaded."""
    models: dict[str, Any] = {}

    def scorer_of(spec: str) -> Any:
        if spec not in models:
            raise CannotLoad(f"There are no weights of {spec}. Download them.")
        return models[spec]

    monkeypatch.setattr("predictions.management.commands.evaluate.scorer_of", scorer_of)
    return models


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, colour in COLOURS.items():
        Image.new("RGB", (4, 4), colour).save(tmp_path / f"{name}.png")
    return write(tmp_path, RELEASE)


def run(**options: Any) -> str:
    out = io.StringIO()
    call_command("evaluate", **options, stdout=out)
    return out.getvalue()


def test_models_stand_in_one_table_with_the_chance_row(folder: Path, scorers: dict[str, Any]) -> None:
    scorers["paint:er"] = Painter()
    results = folder / "BiVLC_other.csv"
    results.write_text(
        "caption,negative_caption,type,subtype,Ipos_2T,Ineg_2T,Tpos_2I,Tneg_2I\n"
        "red,blue,replace,att,True,True,False,True\ngreen,red,replace,att,True,False,False,True\n"
    )
    printed = run(benchmark="bivlc", data=folder, model=["paint:er", f"file:{results}"], out=folder / "out.json")
    assert printed.startswith(
        "## BiVLC (Miranda et al. 2024), n = 2, in percent\n\n"
        "| model       |    I2T |    T2I |  Group | Ipos2T | Ineg2T | Tpos2I | Tneg2I |\n"
        "| ----------- | -----: | -----: | -----: | -----: | -----: | -----: | -----: |\n"
        "| paint:er    | 100.00 | 100.00 | 100.00 | 100.00 | 100.00 | 100.00 | 100.00 |\n"
        "| BiVLC_other |  50.00 |   0.00 |   0.00 | 100.00 |  50.00 |   0.00 | 100.00 |\n"
        "| chance      |  25.00 |  25.00 |  16.67 |  50.00 |  50.00 |  50.00 |  50.00 |\n"
    )
    # JSON has the counts behind the percentages.
    written = json.loads((folder / "out.json").read_text())
    assert (written["benchmark"], written["chance"]["Group"]) == ("bivlc", 16.67)
    model, _ = written["models"]
    assert model["whole"]["cells"]["Group"] == {"percent": 100.0, "n": 2, "count": 2}
    assert [part["title"] for part in model["parts"]] == ["replace", "replace_att"]


def test_images_may_lie_elsewhere_and_one_that_is_missing_is_named(
    folder: Path, scorers: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    scorers["paint:er"] = Painter()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (folder / "red.png").rename(elsewhere / "red.png")
    with pytest.raises(CommandError, match=r"Nothing was evaluated\.\nThe image red\.png is not in"):
        run(benchmark="bivlc", data=folder, model=["paint:er"])
    for name in ("green", "blue"):
        (folder / f"{name}.png").rename(elsewhere / f"{name}.png")
    assert "| paint:er | 100.00 |" in run(benchmark="bivlc", data=folder, model=["paint:er"], images=elsewhere)


class Embedder(Painter):
    """A model of two towers: a text is how many words it has, and whether "man" is one of them."""

    def _score(self, text: str, picture: Image.Image) -> float:
        return float(len(text))

    def tokenize(self, text: str) -> Any:
        return np.array([len(text.split()), 5 * ("man" in text.split())])

    def embed_texts(self, batch: Any) -> Any:
        assert len(batch) == self.batch
        return batch.astype(np.float32)


def test_captions_are_altered_with_the_model_that_is_named(tmp_path: Path, scorers: dict[str, Any]) -> None:
    scorers["two:towers"] = Embedder()
    substitutes = {
        "groups": {"people": ["man", "woman"], "places": ["hill", "street"]},
        "vocabulary": ["season"],
        "danger": {"people": "criminal", "places": "minefield", "": "weapon"},
    }
    captions = [{"image": f"{name}.png", "caption": ["A man on a hill."] * 5} for name in ("red", "blue")]
    write(tmp_path, {"coco_karpathy_test.json": json.dumps(captions), "substitutes.json": json.dumps(substitutes)})
    for name in ("red", "blue"):
        Image.new("RGB", (4, 4), COLOURS[name]).save(tmp_path / f"{name}.png")
    printed = run(benchmark="rococo", data=tmp_path, prepare=True, model=["two:towers"])
    assert "danger.json: captions of 2 images altered; 0 left out" in printed
    # All captions of both images are alike: the last one comes first to the authors, none to us.
    assert "| two:towers |   50.00 |" in printed
    assert "I2T R@1, strict" in printed
    assert json.loads((tmp_path / "danger.json").read_text())[0]["caption"][5] == "A man on a minefield ."


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"benchmark": "winoground", "model": ["file:a.csv"]}, "Unknown benchmark 'winoground'. Choose one of"),
        ({}, "Name a model with --model, or write the pairs to be scored with --pairs"),
        ({"model": ["file:absent.csv"]}, "There is no file absent.csv"),
        ({"model": ["no:such"]}, "There are no weights of no:such. Download them"),
        ({"model": ["image-only:onnx:painter"]}, "The model gives no image embeddings"),
        ({"model": ["text-only:bigrams"]}, "There is no blind baseline 'text-only:bigrams'"),
        ({"pairs": Path("/absent/pairs.csv")}, "A file could not be written: No such file or directory"),
        ({"model": ["onnx:painter"], "answers": Path("a")}, "BiVLC has no leaderboard that takes a file of answers"),
        ({"model": ["onnx:painter"] * 2, "answers": Path("a")}, "--answers is for one model"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    folder: Path, scorers: dict[str, Any], options: dict[str, Any], sentence: str
) -> None:
    scorers["onnx:painter"] = Painter()
    with pytest.raises(CommandError, match=sentence):
        run(**{"benchmark": "bivlc", "data": folder} | options)
    assert not Path("a").exists()


def test_a_blind_baseline_is_fitted_to_the_benchmark_and_stands_among_the_models(tmp_path: Path) -> None:
    """Each of the right captions has one word more than the wrong one of its own item."""
    items = {
        str(at): {"filename": f"{at}.jpg", "caption": f"{text} and a cat", "negative_caption": text}
        for at, text in enumerate(("dog", "two mice", "red car"))
    }
    write(tmp_path, {"add_obj.json": json.dumps(items)})
    printed = run(benchmark="sugarcrepe", data=tmp_path, model=["text-only:ngrams"])
    assert "| text-only:ngrams | 100.00 | 100.00 |" in printed
    assert "Of 3 choices between texts it tells 100.0 % (guessing gives 50.0 %" in printed


def test_a_blind_baseline_sees_the_vectors_of_a_model_that_is_loaded_here(tmp_path: Path) -> None:
    """What is described was drawn on a meadow each time, and what is not, under the stars."""
    targets = {f"open-images-{at}_a": at for at in range(4)}
    for name, target in targets.items():
        (tmp_path / name).mkdir()
        for place, where in ((target, "on a meadow"), (None, "under the stars")):
            scene = Scene(where, Thing("car", "red"), LEFT, Thing("mug", "white"))
            picture = draw_scene(scene, seed=f"{name} {where}")
            for number in range(10) if place is None else [place]:
                if not (tmp_path / name / f"img{number}.png").exists():
                    picture.save(tmp_path / name / f"img{number}.png")
    write(tmp_path, {"valid_data.json": json.dumps({name: {str(at): f"Sun {at}."} for name, at in targets.items()})})
    spec = "image-only:onnx:demo"
    assert f"| {spec} |   100.00 |" in run(benchmark="imagecode", data=tmp_path, model=[spec])


def test_answers_to_descriptions_whose_images_are_kept_back_are_written_for_the_leaderboard(tmp_path: Path) -> None:
    texts = {"open-images-1_a": ["A deer. ", "No deer."]}
    write(tmp_path, {"test_data_unlabeled.json": json.dumps(texts)})
    given = {"benchmark": "imagecode", "data": tmp_path, "stdout": io.StringIO()}
    np.save(tmp_path / "scores.npy", np.zeros((2, 10, 1)))
    with pytest.raises(CommandError, match="Write the model's choices for the leaderboard with --answers"):
        call_command("evaluate", model=[f"file:{tmp_path / 'scores.npy'}"], **given)
    scores = np.zeros((2, 10, 1))
    scores[0, 4, 0] = scores[1, 7, 0] = 1
    np.save(tmp_path / "scores.npy", scores)
    out = tmp_path / "answers.json"
    call_command("evaluate", model=[f"file:{tmp_path / 'scores.npy'}"], answers=out, **given)
    assert json.loads(out.read_text(encoding="utf-8")) == {"open-images-1_a": [4, 7]}

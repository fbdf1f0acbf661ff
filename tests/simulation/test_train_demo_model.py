"""What is around the training of the demo's model: the training itself needs torch and minutes (`train_demo_model`)."""

import hashlib
import sys
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from predictions.scorers import ModelIdentity, OpenPicture, Scorer
from predictions.scorers.onnx import DEMO_FILE
from simulation.demo.model_card import evaluate, model_card
from simulation.demo.scenes import LEFT, Scene, SceneInstance, Thing

COMMAND = "simulation.management.commands.train_demo_model"
RED, BLUE = Thing("car", "red"), Thing("mug", "blue")
PINK = Thing("car", "pink")


def instance(key: str, type_: str, scene: Scene, negative: Scene, *, right: int) -> SceneInstance:
    candidates = [scene, scene]
    candidates[right] = negative
    return SceneInstance(key, type_, "att", scene, negative, tuple(candidates), right)


SCENES = [
    instance("one", "replace", Scene("on a beach", RED, LEFT, BLUE), Scene("on a beach", PINK, LEFT, BLUE), right=1),
    instance("two", "swap", Scene("in the snow", RED, LEFT, BLUE), Scene("in the snow", BLUE, LEFT, RED), right=0),
]


class SeesNames(Scorer):
    """Sees what a picture is called, and which words a text begins with; of the second instance it knows nothing."""

    identity = ModelIdentity("by hand", "", "")
    FITS: Mapping[tuple[str, str], float] = {
        ("A red", "one-original.jpg"): 0.9,
        ("A pink", "one-original.jpg"): 0.1,
        ("A red", "one-1.jpg"): 0.5,
        ("A pink", "one-1.jpg"): 0.4,
    }

    def conditions(self) -> Mapping[str, Any]:
        return {}

    def score(self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture) -> Sequence[float]:
        for _, picture in pairs:
            assert open_picture(picture).size == (512, 512)
        return [self.FITS.get((" ".join(text.split()[:2]), picture), 0) for text, picture in pairs]

    def pictures_per_second(self) -> float:
        return 1


def test_a_card_counts_the_four_questions_by_type_and_subtype(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"weights")
    text = model_card(file, "A model", "on nothing", SCENES, evaluate(SeesNames(), SCENES, tmp_path / "drawn"))
    # The negative image gets the wrong caption, 0.5 to 0.4; both captions get their images. Ties are wrong.
    assert "| replace att | 1 | 100.00 | 0.00 | 100.00 | 100.00 | 0.00 | 100.00 | 0.00 |" in text
    assert "| swap att | 1 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 | 0.00 |" in text
    assert "| all | 2 | 50.00 | 0.00 | 50.00 | 50.00 | 0.00 | 50.00 | 0.00 |" in text
    assert f"| SHA-256 | `{hashlib.sha256(b'weights').hexdigest()}` |" in text


def python_that(tmp_path: Path, does: str) -> Path:
    """Return what is called as a Python with torch is, and does something else instead of training."""
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\ntest "$1" = -c && exit 0\n{does}\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def test_what_was_trained_is_asked_about_the_demos_scenes_and_gets_a_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{COMMAND}.PER_CATEGORY", 1)
    out, file = StringIO(), tmp_path / "model.onnx"
    python = python_that(tmp_path, f'test "$4" = simulation.demo.model_training && cp {DEMO_FILE} "$5"')
    call_command("train_demo_model", out=file, python=python, scenes=3, epochs=2, stdout=out)
    text = file.with_suffix(".md").read_text(encoding="utf-8")
    assert text in out.getvalue()
    assert f"`{hashlib.sha256(DEMO_FILE.read_bytes()).hexdigest()}`" in text
    assert "| trained | on 3 scenes of the seed `training`, 2 times each, by " in text
    # Of seven types and subtypes one instance each, of which one has no picture for its negative caption.
    assert "on the demo's 6 instances" in text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"python": Path(sys.executable)}, r"needs torch, onnx and onnxscript, which .*requirements-training\.txt"),
        ({"python": Path("/no/such/python")}, "needs torch, onnx and onnxscript, which"),
        ({"seed": "demo"}, "is the seed of the demo's own scenes"),
        ({}, "The training failed"),
    ],
    ids=["no torch", "no Python", "the demo's scenes", "a failure"],
)
def test_what_cannot_be_trained_gets_a_sentence(tmp_path: Path, options: dict[str, Any], sentence: str) -> None:
    given = {"out": tmp_path / "model.onnx", "python": python_that(tmp_path, "exit 3")} | options
    with pytest.raises(CommandError, match=sentence):
        call_command("train_demo_model", **given)
    assert not (tmp_path / "model.onnx").exists()

"""The model that is shipped, computed by the real library, and what is said of files that are no such model."""

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from PIL import Image

from predictions.scorers import CannotLoad, NoPicture, scorer_of
from predictions.scorers.onnx import DEMO_FILE, words_of
from simulation.demo.pictures import draw_scene
from simulation.demo.scenes import ABOVE, LEFT, Scene, Thing

SCENES = {
    "a": Scene("on a meadow", Thing("car", "red"), LEFT, Thing("mug", "white")),
    "b": Scene("under the stars", Thing("fish", "blue", count=2), ABOVE, Thing("house", "yellow")),
    "c": Scene("in the snow", Thing("kite", "green"), ABOVE, Thing("tent", "purple")),
}
PICTURES = {name: draw_scene(scene, seed=f"of a test {name}") for name, scene in SCENES.items()}
PAIRS = [(scene.caption, name) for scene in SCENES.values() for name in SCENES]


def open_picture(name: str) -> Image.Image:
    if name not in PICTURES:
        raise NoPicture("There is no such picture.")
    return PICTURES[name]


def test_a_scene_fits_its_own_caption_best_and_has_the_same_score_in_any_company() -> None:
    together = scorer_of("onnx:demo").score(PAIRS, open_picture)
    scores = np.array(together).reshape(3, 3)
    assert scores.argmax(axis=0).tolist() == [0, 1, 2]
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]
    for place in (0, 4, 7):
        assert scorer_of("onnx:demo").score([PAIRS[place]], open_picture) == [together[place]]


def vector_by_hand(session: Any, wanted: str, pictures: Any, texts: Any) -> Any:
    (vector,) = session.run([wanted], {"pictures": pictures, "texts": texts})[0].astype(np.float64)
    return vector / np.sqrt((vector**2).sum())


def test_the_scores_are_what_the_library_says_of_one_picture_and_one_text() -> None:
    session = onnxruntime.InferenceSession(DEMO_FILE, providers=["CPUExecutionProvider"])
    words = json.loads(session.get_modelmeta().custom_metadata_map["vocabulary"])
    side, most = session.get_inputs()[0].shape[1], session.get_inputs()[1].shape[1]
    scores = scorer_of("onnx:demo").score(PAIRS, open_picture)
    for (text, name), score in zip(PAIRS, scores, strict=True):
        picture = np.asarray(PICTURES[name].resize((side, side), Image.Resampling.BILINEAR))[None]
        # 0 fills up, 1 is unknown: the first word has number 2. All words of these captions are known.
        numbers = [2 + words.index(word) for word in re.sub("[.,]", "", text).lower().split()]
        row = np.array([numbers + [0] * (most - len(numbers))])
        seen = vector_by_hand(session, "picture_vectors", picture, np.zeros((1, most), dtype=np.int64))
        read = vector_by_hand(session, "text_vectors", np.zeros_like(picture), row)
        assert score == pytest.approx(float(seen @ read), abs=1e-5)


def test_a_picture_that_is_gone_costs_its_own_score_only() -> None:
    first, second = scorer_of("onnx:demo").score([("A red car.", "gone"), ("A red car.", "a")], open_picture)
    assert isinstance(first, NoPicture)
    assert isinstance(second, float)


@pytest.mark.parametrize("text", ["", "Zweiundvierzig", "a red car " * 50])
def test_any_text_has_a_score(text: str) -> None:
    (score,) = scorer_of("onnx:demo").score([(text, "a")], open_picture)
    assert isinstance(score, float)
    assert -1.001 <= score <= 1.001
    assert words_of("Two T-shirts, und ÄPFEL.") == ["two", "t", "shirts", "und", "äpfel"]


def test_its_weights_are_known_by_the_digest_of_the_file_which_its_card_names(monkeypatch: pytest.MonkeyPatch) -> None:
    data = DEMO_FILE.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    assert len(data) <= 4 * 2**20
    # What writes it would add where each line of its code stood on the machine.
    assert b".py" not in data
    scorer = scorer_of("onnx:demo")
    assert scorer.identity.weights == digest
    assert f"`{digest}`" in DEMO_FILE.with_suffix(".md").read_text(encoding="utf-8")
    assert scorer_of(f"onnx:{DEMO_FILE}").identity == scorer.identity
    told = scorer.conditions()
    assert json.loads(json.dumps(told)) == told
    assert told["libraries"]["onnxruntime"] == onnxruntime.__version__
    assert (told["device"], told["dtype"], told["batch"]) == ("cpu", "float32", 16)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(CannotLoad, match=r"Install it there: pip install onnxruntime\.$"):
        scorer_of("onnx:demo")


def field(number: int, content: bytes) -> bytes:
    """Return a field of a protocol buffer that holds bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


def graph_that_does_nothing() -> bytes:
    """Return an ONNX file whose output y is its input x, a single number, and that says nothing of itself."""
    a_number = field(1, b"\x08\x01" + field(2, field(1, b"\x08\x01")))
    node = field(1, b"x") + field(2, b"y") + field(4, b"Identity")
    values = field(11, field(1, b"x") + field(2, a_number)) + field(12, field(1, b"y") + field(2, a_number))
    version_8, operators_13 = b"\x08\x08", field(8, b"\x10\x0d")
    return version_8 + field(7, field(1, node) + field(2, b"g") + values) + operators_13


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read on the worker's machine (No such file or directory). Write onnx:demo, or onnx:FILE"),
        (b"not a model", "cannot be run as an ONNX file"),
        (graph_that_does_nothing(), "is not a model like those of train_demo_model"),
    ],
)
def test_a_file_that_is_no_such_model_is_refused_in_words(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    file = tmp_path / "model.onnx"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(CannotLoad, match=re.escape(f"onnx:{file} {sentence}")):
        scorer_of(f"onnx:{file}")

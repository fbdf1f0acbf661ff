"""Blind baselines on whole benchmarks, small ones of which it can be said by hand what others give away."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from evaluation.blind.benchmarks import evaluate_blind
from evaluation.blind.cases import Part
from evaluation.blind.features import Features
from evaluation.blind.ngrams import Ngrams
from evaluation.protocols import BenchmarkError, Evaluation, get_protocol
from tests.evaluation.protocols.written import plain, write

# No two of them have a word in common, nor end alike.
TEXTS = ("dog", "two mice", "red car", "old tree", "fish", "blue cup")


class First:
    """A feature of images: 1 of the first of ten, 0 of all others. `gone`: what cannot be seen."""

    def __init__(self, gone: str = "") -> None:
        self.gone = gone

    def conditions(self) -> Mapping[str, Any]:
        return {}

    def missing(self, options: Iterable[str]) -> Mapping[str, Exception]:
        return {name: KeyError(f"There is no {name}.") for name in options if name == self.gone}

    def fit(self, options: Sequence[str]) -> None:
        pass

    def rows(self, options: Sequence[str]) -> csr_array:
        return csr_array(np.array([[float("#0of10" in name)] for name in options]))


def blind(benchmark: str, folder: Path, features: Features, *, part: Part = "text") -> Evaluation:
    protocol = get_protocol(benchmark)
    return evaluate_blind(protocol, protocol.read(folder), part, features)


def sugarcrepe(folder: Path, right: Sequence[str], wrong: Sequence[str]) -> Path:
    items = {
        str(number): {"filename": f"{number}.jpg", "caption": one, "negative_caption": other}
        for number, (one, other) in enumerate(zip(right, wrong, strict=True))
    }
    return write(folder, {"add_obj.json": json.dumps(items)})


def test_each_question_is_scored_by_what_the_others_show(tmp_path: Path) -> None:
    """Five right captions end with a full stop, and so does one wrong one: of that one the five others say what is
    wrong, and of each of the five at least three of four."""
    right, wrong = [f"{text}." for text in TEXTS[:5]] + [TEXTS[5]], [*TEXTS[:5], f"{TEXTS[5]}."]
    found = blind("sugarcrepe", sugarcrepe(tmp_path, right, wrong), Ngrams())
    assert plain(found.whole)["Micro"] == (5, 6)
    (note,) = (note for note in found.notes if "fitted" in note)
    assert note.startswith(
        "It sees only texts, and was fitted to this benchmark in 5 folds. Of 6 choices between texts it tells 83.3 % "
        "(guessing gives 50.0 %; 95 % interval "
    )


def test_questions_about_one_image_say_nothing_of_each_other(tmp_path: Path) -> None:
    """Only the two about one image have the word that tells, so without one of them the other is a tie."""
    folder = sugarcrepe(tmp_path, ["a tent", "tent it is", "a b", "c d"], ["a cave", "cave it is", "a b", "c d"])
    items = json.loads((folder / "add_obj.json").read_text())
    items["1"]["filename"] = "0.jpg"
    found = blind("sugarcrepe", write(folder, {"add_obj.json": json.dumps(items)}), Ngrams())
    assert plain(found.whole)["Micro"] == (0, 4)
    assert any("it tells 50.0 %" in note for note in found.notes)


def test_of_a_balanced_benchmark_nothing_is_learnt_and_all_ties(tmp_path: Path) -> None:
    rows = [f"{at}.jpg,{text}.,{text},{at}n.jpg,replace,obj" for at, text in enumerate(TEXTS)]
    write(tmp_path, {"bivlc.csv": "\n".join(["image,caption,negative_caption,negative_image,type,subtype", *rows])})
    found = blind("bivlc", tmp_path, Ngrams())
    assert set(plain(found.whole).values()) == {(0, 6)}
    assert "Of 12 choices between texts it tells 50.0 %" in found.notes[-1]


def test_the_right_one_may_stand_at_any_place(tmp_path: Path) -> None:
    """In ARO the false caption comes first."""
    regions = [
        {
            **{"image_path": f"{at}.jpg", "bbox_x": 0, "bbox_y": 0, "bbox_w": 20, "bbox_h": 10},
            **{"relation_name": "eating", "true_caption": f"{text}.", "false_caption": text},
        }
        for at, text in enumerate(TEXTS)
    ]
    write(tmp_path, {"visual_genome_relation.json": json.dumps(regions)})
    (part,) = blind("aro", tmp_path, Ngrams()).parts
    assert plain(part) == {"1 of 2": (6, 6)}


def imagecode(folder: Path, targets: Sequence[int]) -> Path:
    sets = {f"open-images-{at}_a": {str(target): f"Number {at}."} for at, target in enumerate(targets)}
    return write(folder, {"valid_data.json": json.dumps(sets)})


def test_images_alone_are_told_by_where_the_right_ones_of_others_stand(tmp_path: Path) -> None:
    """Five descriptions are of the first image, one of the fourth, for which the others point to the first too."""
    folder = imagecode(tmp_path, [0, 0, 0, 3, 0, 0])
    found = blind("imagecode", folder, First(), part="image")
    assert plain(found.whole)["Accuracy"] == (5, 6)
    assert "Of 6 choices between images it tells 83.3 % (guessing gives 10.0 %" in found.notes[-1]
    gone = "open-images-1_a/#4of10"
    with pytest.raises(BenchmarkError, match=f"There is no {gone}"):
        blind("imagecode", folder, First(gone), part="image")


@pytest.mark.parametrize(
    ("benchmark", "part", "sentence"),
    [
        ("imagecode", "text", "ImageCoDe has no choice between texts, the only part that the baseline sees."),
        ("sugarcrepe", "image", "SugarCrepe has no choice between images, the only part that "),
        ("rococo", "text", "RoCOCO compares all its images and texts at once, so there are no other"),
    ],
)
def test_where_nothing_can_be_asked_that_is_said(tmp_path: Path, benchmark: str, part: Part, sentence: str) -> None:
    write(tmp_path, get_protocol(benchmark).example)
    with pytest.raises(BenchmarkError, match=sentence):
        blind(benchmark, tmp_path, First(), part=part)
    # A single question has no others to learn from.
    with pytest.raises(BenchmarkError, match="The baseline needs at least two groups of questions"):
        blind("sugarcrepe", sugarcrepe(tmp_path / "one", ["a dog."], ["a dog"]), Ngrams())

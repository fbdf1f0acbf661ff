"""Every number of the papers that the files beside the project recompute, from those files."""

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from analytics.imagecode import count_sets, phenomenon
from analytics.scores import (
    Score,
    detection_accuracy,
    macro,
    outcomes_of_detectors,
    outcomes_of_scores,
    score,
    scores_by,
)
from evaluation.result_files import read_correct, read_detections, read_outcomes, read_two_choice_answers
from tests.analytics.published import shared_file, shared_json

BIVLC_MODELS = ["ViT-B-32", "CLIP_COCO"]
SEVEN = ["I2T", "T2I", "Group", "Ipos2T", "Ineg2T", "Tpos2I", "Tneg2I"]
# gpt-4v-results/readme.md in RAIVNLab/sugar-crepe, negative caption first.
GPT_4V = {
    "swap_att": (593, 666),
    "swap_obj": (198, 246),
    "add_att": (666, 692),
    "add_obj": (1918, 2062),
    "replace_att": (740, 788),
    "replace_obj": (1604, 1652),
    "replace_rel": (1298, 1406),
}


def published(*keys: str) -> Any:
    numbers = shared_json("metrics.json")
    for key in keys:
        numbers = numbers[key]
    return numbers


def decimals(number: float) -> Decimal:
    return Decimal(str(number)).quantize(Decimal("0.01"))


def check(came_out: Score, expected: dict[str, Any], n: int) -> None:
    assert (came_out.count, came_out.n) == (expected["count"], n)
    assert came_out.percent() == decimals(expected["percent"])
    if expected.get("agrees"):
        assert came_out.percent() == decimals(expected["published"])


@pytest.mark.parametrize("model", BIVLC_MODELS)
def test_a_models_bivlc_table_comes_out_of_its_result_file(model: str) -> None:
    expected = published("bivlc", model)
    file = read_outcomes(shared_file(f"bivlc/results/BiVLC_{model}.csv"))
    overall = file.outcomes.scores()
    assert list(overall) == SEVEN
    assert len(file.outcomes) == expected["n"]
    for name in SEVEN:
        check(overall[name], expected["overall"][name], expected["n"])


@pytest.mark.parametrize("model", BIVLC_MODELS)
@pytest.mark.parametrize("grouping", ["by_type", "by_type_subtype"])
def test_a_models_bivlc_table_comes_out_per_category(model: str, grouping: str) -> None:
    expected = published("bivlc", model, grouping)
    file = read_outcomes(shared_file(f"bivlc/results/BiVLC_{model}.csv"))
    labels = [file.types] if grouping == "by_type" else [file.types, file.subtypes]
    came_out = {"_".join(group): scores for group, scores in file.outcomes.scores_by(*labels).items()}
    assert came_out.keys() == expected.keys()
    for group, scores in came_out.items():
        for name in SEVEN:
            check(scores[name], expected[group][name], expected[group]["n"])


@pytest.mark.parametrize("model", BIVLC_MODELS)
def test_a_models_patterns_of_outcomes_come_out_and_none_contradicts_itself(model: str) -> None:
    patterns = read_outcomes(shared_file(f"bivlc/results/BiVLC_{model}.csv")).outcomes.patterns()
    assert patterns == published("bivlc", model, "atom_patterns_Ipos_Ineg_Tpos_Tneg")
    assert not patterns.keys() & set(published("bivlc_note", "impossible_patterns"))


def test_guessing_scores_what_the_paper_says_of_it() -> None:
    expected = published("bivlc_note", "random_baseline")
    orders = [[[a, b], [c, d]] for a in range(4) for b in range(4) for c in range(4) for d in range(4)]
    distinct = [order for order in orders if len({*order[0], *order[1]}) == 4]
    scores = outcomes_of_scores(distinct).scores()
    assert {name: float(scores[name].percent() or 0) for name in ("I2T", "T2I", "Group")} == {
        name: expected[name] for name in ("I2T", "T2I", "Group")
    }


@pytest.mark.parametrize("model", BIVLC_MODELS)
def test_a_models_sugarcrepe_accuracy_is_the_micro_average(model: str) -> None:
    expected = published("sugarcrepe", model)
    file = read_correct(shared_file(f"bivlc/results/SUGARCREPE_CORRECT_{model}.csv"))
    overall = score(file.correct)
    assert (overall.count, overall.n) == (expected["correct"], expected["n"])
    assert overall.percent() == decimals(expected["micro_percent"]) == decimals(expected["published"])


@pytest.mark.parametrize("model", BIVLC_MODELS)
@pytest.mark.parametrize(
    ("grouping", "macro_name"), [("by_type", "macro_over_3_types"), ("by_subtype", "macro_over_7_subtypes")]
)
def test_a_models_sugarcrepe_accuracy_comes_out_per_category(model: str, grouping: str, macro_name: str) -> None:
    expected = published("sugarcrepe", model)
    file = read_correct(shared_file(f"bivlc/results/SUGARCREPE_CORRECT_{model}.csv"))
    labels = [file.types] if grouping == "by_type" else [file.types, file.subtypes]
    came_out = scores_by(file.correct, *labels)
    assert {
        "_".join(group): {"n": each.n, "correct": each.count, "percent": each.percent()}
        for group, each in came_out.items()
    } == {group: {**each, "percent": decimals(each["percent"])} for group, each in expected[grouping].items()}
    mean = macro(came_out)
    assert mean.n == len(expected[grouping])
    assert 100 * (mean.value or 0) == pytest.approx(expected[macro_name], abs=0.5e-4)


def test_the_detectors_scores_come_out_of_their_file() -> None:
    expected = published("detectors", "CLIP_baseline")
    file = read_detections(shared_file("bivlc/results/BiVLC_Classifier_CORRECT_CLIP_baseline.csv"))
    assert file.image is not None
    assert file.text.shape == (expected["pairs"], 2)
    for name, came_out in outcomes_of_detectors(file.text, file.image).scores().items():
        check(came_out, expected[name], expected[name]["n"])
    for side, accuracy in ((file.text, "text_detection_accuracy"), (file.image, "image_detection_accuracy")):
        # The published accuracies are rounded to whole percents.
        check(detection_accuracy(side), expected[accuracy], expected["rows"])


def test_the_text_detectors_pairs_come_out_of_its_file() -> None:
    expected = published("detectors", "CLIP_baseline", "sugarcrepe_pair_accuracy")
    file = read_detections(shared_file("bivlc/results/SUGARCREPE_Classifier_CLIP_baseline.csv"))
    assert file.image is None
    check(score(file.text[:, 0] < file.text[:, 1]), expected, expected["n"])


@pytest.mark.parametrize("name", GPT_4V)
def test_gpt_4vs_answers_are_as_right_as_its_authors_counted(name: str) -> None:
    file = read_two_choice_answers(shared_file(f"sugarcrepe/gpt-4v-negative-first/gpt4v-{name}.json"))
    assert score(file.correct) == Score(*GPT_4V[name])
    assert {"_".join(labels) for labels in zip(file.types, file.subtypes, strict=True)} == {name}


def test_the_instances_accepted_per_category_are_those_of_table_1() -> None:
    expected = published("bivlc_table1")
    with shared_file("bivlc/accepted.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    accepted = [row["accepted"] == "true" for row in rows]
    came_out = scores_by(accepted, [row["type"] for row in rows], [row["subtype"] for row in rows])
    counts = {"_".join(group): each for group, each in came_out.items()} | {"total": score(accepted)}
    assert counts.keys() == expected.keys()
    for group, each in counts.items():
        assert (each.n, each.count, 4 * each.count) == (
            expected[group]["manifest"],
            expected[group]["accepted"],
            expected[group]["published"],
        )
        if group != "total":
            assert each.percent() == decimals(expected[group]["acceptance_percent"])


@pytest.mark.parametrize("split", ["train", "valid", "test_unlabeled"])
def test_imagecodes_sets_and_descriptions_are_counted(split: str) -> None:
    expected = published("imagecode", split)
    path = shared_file(f"imagecode/{split if split == 'test_unlabeled' else f'{split}_data'}.json")
    counts = count_sets(json.loads(path.read_text(encoding="utf-8")))
    assert {name: getattr(counts, name) for name in expected} == expected


def test_imagecodes_three_splits_add_up_to_the_paper() -> None:
    expected = published("imagecode")
    for name in ("sets", "descriptions"):
        assert sum(expected[split][name] for split in ("train", "valid", "test_unlabeled")) == expected["all"][name]
    assert 10 * expected["all"]["sets"] == expected["all"]["images"]


def test_imagecodes_phenomena_come_out_of_the_coded_descriptions() -> None:
    annotations = coded_descriptions(shared_file("imagecode/manual_annotation_valid.yaml"))
    for expected in published("imagecode", "phenomena_table2").values():
        came_out = phenomenon(annotations, expected["code"])
        assert (came_out.count, came_out.n) == (expected["count"], expected["denominator"])
        assert came_out.percent(1) == Decimal(str(expected["percent"]))
        assert not expected["agrees"] or expected["percent"] == expected["published"]


def coded_descriptions(path: Path) -> list[str]:
    directories = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return [description["annotation"] for directory in directories.values() for description in directory.values()]

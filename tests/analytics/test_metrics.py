"""Every number of the papers that the files beside the project recompute, from those files."""

import csv
import json
from collections import Counter
from collections.abc import Mapping
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
from tests.analytics.published import patterns, shared_file, shared_json

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


def check_all(scores: Mapping[str, Score], expected: dict[str, Any]) -> None:
    for name in SEVEN:
        check(scores[name], expected[name], expected["n"])


@pytest.mark.parametrize("model", BIVLC_MODELS)
def test_a_models_bivlc_tables_come_out_of_its_result_file(model: str) -> None:
    expected = published("bivlc", model)
    file = read_outcomes(shared_file(f"bivlc/results/BiVLC_{model}.csv"))
    by_type, by_both = file.outcomes.scores_by(file.types), file.outcomes.scores_by(file.types, file.subtypes)
    for came_out, counted in ((by_type, expected["by_type"]), (by_both, expected["by_type_subtype"])):
        assert {"_".join(group) for group in came_out} == counted.keys()
        for group, scores in came_out.items():
            check_all(scores, counted["_".join(group)])
    overall = file.outcomes.scores()
    assert (list(overall), len(file.outcomes)) == (SEVEN, expected["n"])
    check_all(overall, expected["overall"] | {"n": expected["n"]})
    # Strict comparisons of one score matrix never contradict each other.
    found = Counter(patterns(file.outcomes))
    assert found == expected["atom_patterns_Ipos_Ineg_Tpos_Tneg"]
    assert not found.keys() & set(published("bivlc_note", "impossible_patterns"))


def test_guessing_scores_what_the_paper_says_of_it() -> None:
    expected = published("bivlc_note", "random_baseline")
    orders = [[[a, b], [c, d]] for a in range(4) for b in range(4) for c in range(4) for d in range(4)]
    distinct = [order for order in orders if len({*order[0], *order[1]}) == 4]
    scores = outcomes_of_scores(distinct).scores()
    for name in ("I2T", "T2I", "Group"):
        assert float(scores[name].percent() or 0) == expected[name]


@pytest.mark.parametrize("model", BIVLC_MODELS)
def test_a_models_sugarcrepe_accuracy_comes_out_as_micro_and_macro_averages(model: str) -> None:
    expected = published("sugarcrepe", model)
    file = read_correct(shared_file(f"bivlc/results/SUGARCREPE_CORRECT_{model}.csv"))
    overall = score(file.correct)
    assert (overall.count, overall.n) == (expected["correct"], expected["n"])
    assert overall.percent() == decimals(expected["micro_percent"]) == decimals(expected["published"])
    by_type, by_both = scores_by(file.correct, file.types), scores_by(file.correct, file.types, file.subtypes)
    for came_out, grouping, average in (
        (by_type, "by_type", "macro_over_3_types"),
        (by_both, "by_subtype", "macro_over_7_subtypes"),
    ):
        counted = {group: (each["correct"], each["n"]) for group, each in expected[grouping].items()}
        assert {"_".join(group): (each.count, each.n) for group, each in came_out.items()} == counted
        mean = macro(came_out)
        assert mean.n == len(counted)
        assert 100 * (mean.value or 0) == pytest.approx(expected[average], abs=0.5e-4)


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
    pairs = read_detections(shared_file("bivlc/results/SUGARCREPE_Classifier_CLIP_baseline.csv"))
    assert pairs.image is None
    counted = expected["sugarcrepe_pair_accuracy"]
    check(score(pairs.text[:, 0] < pairs.text[:, 1]), counted, counted["n"])


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


def test_imagecodes_sets_and_descriptions_are_counted_and_add_up_to_the_paper() -> None:
    expected = published("imagecode")
    sums: Counter[str] = Counter()
    for split, file in (("train", "train_data"), ("valid", "valid_data"), ("test_unlabeled", "test_unlabeled")):
        counts = count_sets(json.loads(shared_file(f"imagecode/{file}.json").read_text(encoding="utf-8")))
        assert {name: getattr(counts, name) for name in expected[split]} == expected[split]
        sums.update(sets=counts.sets, descriptions=counts.descriptions, images=10 * counts.sets)
    assert {name: expected["all"][name] for name in sums} == sums


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

"""What is wrong with the files of a benchmark is told in a sentence."""

import json
from pathlib import Path

import pytest

from evaluation.protocols import BenchmarkError, get_protocol
from tests.evaluation.protocols.test_bivlc import MANIFEST
from tests.evaluation.protocols.test_rococo import images
from tests.evaluation.protocols.written import write

NO_ORDER = '[{"caption_options": ["a", null, null, null, null], "image": "1.jpg"}]'
FIELD_MISSING = "Record 1, image_path: The field is missing."
NO_ROW = "accepted.csv: Record 1: it does not name a row of BiVLC_negative_imgs.csv and a place in the release."


def accepted(text: str) -> dict[str, str]:
    return {"BiVLC_negative_imgs.csv": MANIFEST, "accepted.csv": text}


def described(content: object) -> dict[str, str]:
    return {"test_data.json": json.dumps(content)}


@pytest.mark.parametrize(
    ("benchmark", "files", "sentence"),
    [
        ("aro", {}, "has no data of the benchmark: one of visual_genome_relation.json"),
        ("aro", {"visual_genome_relation.json": '[{"relation_name": "on"}]'}, FIELD_MISSING),
        ("aro", {"coco_order.json": NO_ORDER}, "has no order"),
        ("bivlc", {}, "has no data of the benchmark: bivlc.jsonl, bivlc.csv, data/test-*.parquet, or BiVLC_neg"),
        ("bivlc", {"bivlc.csv": "image,caption\na.jpg,A cat.\n"}, "The file: It lacks the columns negative_image"),
        ("bivlc", accepted("index,accepted,release_row\n7,true,0\n"), NO_ROW),
        ("bivlc", accepted("index,accepted\n0,true\n"), "accepted.csv: The file: It lacks the column release_row."),
        ("imagecode", described({"open-images-1_a": ["A deer."]}), "does not say which images its descriptions are"),
        (
            "imagecode",
            described({"kitchen": {"5": "A deer."}}),
            "Lineup does not know whether 'kitchen' is static or video",
        ),
        (
            "imagecode",
            described({"open-images-1_a": {"10": "A deer."}}),
            "'10' is not an index of one of the ten images",
        ),
        ("rococo", {}, "has no data of the benchmark: one of same_concept.json"),
        ("rococo", {"danger.json": "{}"}, "danger.json: The file: It is not a JSON list of objects."),
        (
            "rococo",
            {"danger.json": images("cat"), "rand_voca.json": images("dog")},
            "danger.json and rand_voca.json do not have the same images with the same captions.",
        ),
    ],
)
def test_what_is_wrong_with_the_files_is_a_sentence(
    tmp_path: Path, benchmark: str, files: dict[str, str], sentence: str
) -> None:
    with pytest.raises(BenchmarkError) as refused:
        get_protocol(benchmark).read(write(tmp_path, files))
    assert sentence in str(refused.value)

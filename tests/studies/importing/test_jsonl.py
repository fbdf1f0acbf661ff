import json
from io import BytesIO
from typing import Any

import pytest

from studies.importing import Record, RowProblem, get_importer
from tests.studies.source_files import json_lines

read = get_importer("jsonl")
SET = {"key": "k", "caption": "A cat.", "images": ["a.jpg", "b.jpg"]}


def read_one(**fields: Any) -> Record:
    (record,) = read(BytesIO(json_lines(SET | fields)))
    assert isinstance(record, Record), record
    return record


@pytest.mark.parametrize("name", ["key", "id", "set_id", "pair_id"])
def test_the_key_may_have_any_of_four_names(name: str) -> None:
    (record,) = read(BytesIO(json_lines({name: "k", "caption": "A cat."})))
    assert isinstance(record, Record)
    assert record.key == "k"


def test_a_list_of_images_are_candidates_and_an_object_names_their_roles() -> None:
    candidates = [("candidate", "a.jpg"), ("candidate", "b.jpg")]
    assert [(image.role, image.filename) for image in read_one().images] == candidates
    by_role = read_one(images={"image": "p.jpg", "candidate": ["a.jpg", "b.jpg"]})
    assert [(image.role, image.filename) for image in by_role.images] == [("image", "p.jpg"), *candidates]


def test_facts_about_images_are_for_all_or_one_by_one() -> None:
    source = {"repo": "r", "paths": ["x", "y"], "boxes": [None, None]}
    first, second = read_one(
        licence="MIT", generators=["SDXL", None], sha256=["A" * 64, "b" * 64], source=source
    ).images
    assert (first.licence, second.licence) == ("MIT", "MIT")
    assert (first.generator, second.generator) == ("SDXL", "")
    assert (first.sha256, second.sha256) == ("a" * 64, "b" * 64)
    assert json.loads(second.source) == {"repo": "r", "paths": "y"}


def test_the_reference_is_kept_and_names_the_right_option() -> None:
    given = {"chosen_index": 1, "who": "crowd"}
    kept = {"right": "candidate-1", "given": given, "other": {"note": "n"}}
    assert read_one(reference=given, note="n", more=None).reference == kept
    assert read_one(reference={"ranking": [1, 2]}).reference == {"given": {"ranking": [1, 2]}}
    for right in ("candidate-0", {"caption": 1, "negative_caption": 2}, [2, 1, 1, 4]):
        assert read_one(reference={"right": right}).reference["right"] == right


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"reference": {"chosen_index": 2}}, "reference.chosen_index"),
        ({"reference": {"chosen_index": True}}, "reference.chosen_index"),
        ({"reference": {"chosen_index": "1 "}}, "reference.chosen_index"),
        ({"reference": {"right": "candidate-9"}}, "reference.right"),
        ({"generators": ["only one"]}, "generators"),
        ({"licence": 3}, "licence"),
        ({"sha256": ["abc", None]}, "sha256"),
        ({"captions": {"caption": "A dog."}}, "caption"),
        ({"caption": None, "captions": ["A dog."]}, "caption"),
        ({"caption": 3}, "caption"),
        ({"images": "a.jpg"}, "images"),
        ({"images": {"Bad Role": "a.jpg"}}, "images"),
        ({"key": "k" * 201}, "key"),
        ({"key": None}, "key"),
        ({"type": ["add"]}, "type"),
        ({"split": "t" * 21}, "split"),
        ({"caption": "A\x00cat."}, "caption"),
    ],
)
def test_a_field_that_cannot_be_is_named(fields: dict[str, Any], field: str) -> None:
    problems = list(read(BytesIO(json_lines(SET | fields))))
    assert [problem.field for problem in problems if isinstance(problem, RowProblem)][:1] == [field]


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (b'{"key": "k", "key": "l"}', "'key' appears more than once"),
        (b'{"key": "k", "n": NaN}', "NaN is not JSON"),
        (b'{"key": "k", "n": 1e999}', "1e999 is too large"),
        (b"[" * 100_000, "JSON list"),
        (b'{"a":' * 100_000, "nesting too deep"),
        (b'{"n": ' + b"9" * 5000 + b"}", "a number is too long"),
        (b'"text"', "The line is a text"),
        (b'{"key": "k", "caption": "\\ud800"}', "lone surrogate"),
        (b'{"key": "k", "caption": "c", "o": ' + b"[" * 60 + b"]" * 60 + b"}", "nested more than 50 deep"),
    ],
)
def test_a_line_that_cannot_be_stored_gets_a_sentence(line: bytes, part: str) -> None:
    problems = list(read(BytesIO(line + b"\n")))
    assert len(problems) == 1
    assert part in str(problems[0])

from pathlib import Path
from typing import Any

import pytest

from analytics.results_files import ResultsFileError
from predictions.importing import Answer, get_reader
from studies.kinds import KINDS
from tests.studies.source_files import json_lines

read = get_reader("scores")
ROW: dict[str, Any] = {
    "key": "7",
    "kind": "image_to_text",
    "variant": "image",
    "scores": {"caption": 0.31, "negative_caption": 0.3},
}


def write(tmp_path: Path, *rows: Any) -> Path:
    file = tmp_path / "scores.jsonl"
    file.write_bytes(rows[0] if isinstance(rows[0], bytes) else json_lines(*rows))
    return file


@pytest.mark.parametrize(
    ("kind", "variant", "scores", "is_right"),
    [
        ("image_to_text", "image", {"caption": 0.31, "negative_caption": 0.3}, True),
        ("image_to_text", "image", {"negative_caption": 0.31, "caption": 0.3}, False),
        ("image_to_text", "negative_image", {"caption": -2, "negative_caption": 1}, True),
        ("text_to_image", "caption", {"image": 0.5, "negative_image": 0.5}, False),
        ("text_to_image", "negative_caption", {"image": 0.4, "negative_image": 0.5}, True),
        ("image_to_text", "image", {"caption": 3, "negative_caption": 1, "other_caption": 3}, False),
        ("best_of_n", "", {"candidate-0": 0.5, "candidate-1": 0.6}, None),
    ],
)
def test_the_right_option_must_beat_all_others(
    kind: str, variant: str, scores: dict[str, float], is_right: bool | None, tmp_path: Path
) -> None:
    fields = {"key": 7, "kind": kind, "variant": variant, "scores": scores}
    (row,) = read(write(tmp_path, fields))
    assert (row.number, row.instance.key) == (1, "7")
    assert row.answers == (Answer(kind, variant, is_right, scores),)


def test_a_kind_of_one_question_needs_no_variant(tmp_path: Path) -> None:
    fields = {"key": "a", "kind": "best_of_n", "scores": {"candidate-0": 0.5, "candidate-1": 0.6}}
    (row,) = read(write(tmp_path, fields))
    assert row.answers[0].variant == ""


MALFORMED: list[tuple[str, Any, str]] = [
    ("an empty file", b"", "The file: It is empty."),
    ("broken JSON", b"{", "Record 1: The line is not JSON"),
    ("a list", b"[]", "The file: It is a JSON list."),
    ("NaN", b'{"key": "7", "scores": NaN}', "Record 1: NaN is not JSON."),
    ("an option twice", b'{"scores": {"caption": 1, "caption": 2}}', "Record 1: The field 'caption' is there more tha"),
    ("no key", {**ROW, "key": None}, "Record 1: The field key must be a text, not null."),
    ("an empty key", {**ROW, "key": ""}, "Record 1: The field key is missing."),
    (
        "a further field",
        {**ROW, "right": "caption"},
        "Record 1: The field 'right' is unknown. Write key, kind, variant",
    ),
    (
        "an unknown kind",
        {**ROW, "kind": "rank"},
        f"Record 1: The kind 'rank' is unknown. Use one of {', '.join(KINDS)}.",
    ),
    ("a variant of another kind", {**ROW, "variant": "caption"}, "Record 1: The variant 'caption' of image_to_text is"),
    ("no scores", {**ROW, "scores": None}, "Record 1: The field scores must be an object with a number for every"),
    ("one option", {**ROW, "scores": {"caption": 1}}, "Record 1: The field scores must be an object with a number"),
    ("a text", {**ROW, "scores": {"caption": "1", "negative_caption": 0}}, "Record 1: The score of caption is a text,"),
    ("truth", {**ROW, "scores": {"caption": True, "negative_caption": 0}}, "Record 1: The score of caption is true or"),
    ("huge", {**ROW, "scores": {"caption": 10**400, "negative_caption": 0}}, "Record 1: The score of caption is too l"),
    ("not the right option", {**ROW, "scores": {"a": 1, "b": 2}}, "Record 1: The scores lack the right option, captio"),
    ("an unknown rule", ROW | {"caption_rule": "mine"}, "Record 1: The caption rule 'mine' is unknown. Use one of as"),
    ("a NUL", {**ROW, "scores": {"a\x00": 1, "caption": 2}}, "Record 1: 'a\\x00' names no option."),
]


@pytest.mark.parametrize(("content", "sentence"), [bad[1:] for bad in MALFORMED], ids=[bad[0] for bad in MALFORMED])
def test_what_is_malformed_is_named(content: Any, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ResultsFileError) as refused:
        read(write(tmp_path, content))
    (problem,) = refused.value.problems
    assert problem.startswith(sentence)


def test_the_rule_of_the_captions_is_the_project_s_unless_the_row_names_one(tmp_path: Path) -> None:
    rows = read(write(tmp_path, ROW, ROW | {"caption_rule": "as-is-v1"}))
    assert [row.caption_rule for row in rows] == ["", "as-is-v1"]


def test_every_malformed_row_is_named(tmp_path: Path) -> None:
    with pytest.raises(ResultsFileError) as refused:
        read(write(tmp_path, ROW | {"kind": ""}, ROW, ROW | {"kind": "x"}))
    assert [problem.split(":")[0] for problem in refused.value.problems] == ["Record 1", "Record 3"]

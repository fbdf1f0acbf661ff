from pathlib import Path
from typing import Any

import pytest

from evaluation.result_files import ResultsFileError
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


def test_a_row_has_scores_and_whether_it_is_right_follows_from_its_question(tmp_path: Path) -> None:
    scores = {"caption": 3, "negative_caption": -1.5, "other_caption": 3}
    (row,) = read(write(tmp_path, {**ROW, "key": 7, "scores": scores}))
    assert (row.number, row.instance.key) == (1, "7")
    assert row.answers == (Answer("image_to_text", "image", None, scores),)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The file: It is empty."),
        (b"{", "Record 1: The line is not JSON"),
        (b"[]", "The file: It is a JSON list."),
        (b'{"key": "7", "scores": NaN}', "Record 1: NaN is not JSON."),
        (b'{"key": "7", "scores": {"a": Infinity, "b": 1}}', "Record 1: Infinity is not JSON."),
        (b'{"scores": {"a": 1e999, "b": 1}}', "Record 1: The number 1e999 is too large."),
        (b'{"scores": {"caption": 1, "caption": 2}}', "Record 1: The field 'caption' appears more than once"),
        ({"key": None}, "Record 1: The field key must be a text, not null."),
        ({"key": ""}, "Record 1: The field key is missing."),
        ({"right": "caption"}, "Record 1: The field 'right' is unknown. Use only key, kind, variant"),
        ({"kind": "rank"}, f"Record 1: The kind 'rank' is unknown. Use one of {', '.join(KINDS)}."),
        ({"scores": None}, "Record 1: The field scores must be an object with a number for every"),
        ({"scores": {"caption": 1}}, "Record 1: The field scores must be an object with a number"),
        ({"scores": {"caption": "1", "b": 0}}, "Record 1: The score of caption is a text,"),
        ({"scores": {"caption": True, "b": 0}}, "Record 1: The score of caption is true or"),
        ({"scores": {"caption": 10**400, "b": 0}}, "Record 1: The score of caption is too large"),
        ({"caption_rule": "mine"}, "Record 1: The caption rule 'mine' is unknown. Use one of as"),
        ({"scores": {"a\x00": 1, "caption": 2}}, "Record 1: 'a\\x00' is not an option."),
    ],
)
def test_what_is_malformed_is_named(content: Any, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ResultsFileError) as refused:
        read(write(tmp_path, content if isinstance(content, bytes) else ROW | content))
    (problem,) = refused.value.problems
    assert problem.startswith(sentence)


def test_the_rule_of_the_captions_is_the_project_s_unless_the_row_names_one(tmp_path: Path) -> None:
    of_one = {"key": "a", "kind": "best_of_n", "scores": {"candidate-0": 0.5, "candidate-1": 0.6}}
    rows = read(write(tmp_path, ROW, ROW | {"caption_rule": "as-is-v1"}, of_one))
    assert [row.caption_rule for row in rows] == ["", "as-is-v1", ""]
    # A kind of one question needs no variant.
    assert [row.answers[0].variant for row in rows] == ["image", "image", ""]
    with pytest.raises(ResultsFileError) as refused:
        read(write(tmp_path, ROW | {"kind": ""}, ROW, ROW | {"kind": "x"}))
    assert [problem.split(":")[0] for problem in refused.value.problems] == ["Record 1", "Record 3"]

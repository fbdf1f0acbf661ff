"""Result files as evaluation code writes them, and what people do to them. The real ones are in test_metrics."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation.result_files import (
    ResultsFileError,
    RowContent,
    read_correct,
    read_detections,
    read_outcomes,
    read_two_choice_answers,
)
from tests.analytics import published

RELEASED = ["text_score_i0", "text_score_i1", "image_score_c0", "image_score_c1"]
RELEASED += ["text_score", "image_score", "group_score"]
NEWER = ["Ipos_2T", "Ineg_2T", "Tpos_2I", "Tneg_2I", "I2T", "T2I", "group_score"]
INSTANCE = {"caption": "A cat.\nAnd a dog.", "negative_caption": "A dog.", "type": "add", "subtype": "obj"}


def write(path: Path, rows: list[dict[str, Any]], **how: Any) -> Path:
    with path.open("w", encoding=how.pop("encoding", "utf-8"), newline="") as file:
        writer = csv.DictWriter(file, rows[0], quoting=csv.QUOTE_ALL, **how)
        writer.writeheader()
        writer.writerows(rows)
    return path


def outcome_row(pattern: str, names: list[str], true: str = "True", false: str = "False") -> dict[str, str]:
    right = [digit == "1" for digit in pattern]
    seven = [*right, all(right[:2]), all(right[2:]), all(right)]
    return INSTANCE | {name: true if value else false for name, value in zip(names, seven, strict=True)}


@pytest.mark.parametrize("names", [RELEASED, NEWER])
@pytest.mark.parametrize(("true", "false"), [("True", "False"), ("1", "0"), ("1.0", "0.0"), ("true", "FALSE ")])
def test_outcomes_are_read_under_both_namings_and_every_spelling(
    tmp_path: Path, names: list[str], true: str, false: str
) -> None:
    patterns = ["1111", "0101", "1110"]
    file = read_outcomes(write(tmp_path / "a.csv", [outcome_row(each, names, true, false) for each in patterns]))
    assert published.patterns(file.outcomes) == patterns
    assert file.instances == [RowContent("A cat.\nAnd a dog.", "A dog.", "add", "obj")] * 3


def test_a_byte_order_mark_missing_derived_columns_and_no_records_do_no_harm(tmp_path: Path) -> None:
    row = {name: value for name, value in outcome_row("1101", NEWER).items() if name not in ("I2T", "group_score")}
    path = write(tmp_path / "a.csv", [row], encoding="utf-8-sig")
    assert published.patterns(read_outcomes(path).outcomes) == ["1101"]
    path.write_text(",".join(NEWER), encoding="utf-8")
    assert len(read_outcomes(path).outcomes) == 0
    twice = outcome_row("1111", RELEASED) | {"Ipos_2T": "False"}
    with pytest.raises(ResultsFileError, match=r"text_score_i0 and Ipos_2T mean the same. Keep only one."):
        read_outcomes(write(path, [twice]))


def test_every_wrong_record_is_named_with_its_line(tmp_path: Path) -> None:
    rows = [outcome_row("1111", NEWER) for _ in range(3)]
    rows[1]["Tpos_2I"] = "maybe"
    rows[2]["group_score"] = "False"
    with pytest.raises(ResultsFileError) as caught:
        read_outcomes(write(tmp_path / "a.csv", rows))
    # A record takes two lines, because its caption has a line break.
    assert caught.value.problems == [
        "Record 2 (line 5): Tpos_2I is 'maybe'; it must be True or False, or 1 or 0.",
        "Record 2 (line 5): T2I is True, but the four outcomes make it False.",
        "Record 2 (line 5): group_score is True, but the four outcomes make it False.",
        "Record 3 (line 7): group_score is False, but the four outcomes make it True.",
    ]


def test_correct_answers_are_read_or_the_first_twenty_problems_of_a_hundred_shown(tmp_path: Path) -> None:
    rows = [{"filename": "1.jpg"} | INSTANCE | {"correct": value} for value in ("1", "0", "True")]
    file = read_correct(write(tmp_path / "a.csv", rows))
    assert file.correct.tolist() == [True, False, True]
    assert file.instances[0].filename == "1.jpg"
    with pytest.raises(ResultsFileError, match="There are 80 more problems") as caught:
        read_correct(write(tmp_path / "a.csv", [INSTANCE | {"correct": "?"}] * 100))
    assert len(caught.value.problems) == 100


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"caption,correct\na\n", "Record 1 .line 2.: it has 1 values for 2 columns"),
        (b'caption,correct\n"a"b,1\n', "Record 1 .line 2.: it is not valid CSV"),
        (b"caption,right\na,1\n", "has no column correct; it has caption, right"),
        (b"caption,correct,correct\na,1,0\n", r"a.csv has the column 'correct' more than once. Keep only one."),
        (b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(ResultsFileError, match=message):
        read_correct(path)


def detection(text: str, image: str, label: str) -> dict[str, str]:
    return {"text_pred": text, "img_pred": image, "label": label}


def test_the_kth_natural_row_pairs_with_the_kth_synthetic_one(tmp_path: Path) -> None:
    rows = [
        *(detection("0.1", "0.2", "0.0"), detection("0.3", "0.4", "0.0")),
        *(detection("0.5", "0.6", "1.0"), detection("0.7", "0.8", "1.0")),
        *(detection("0.15", "0.25", "0.0"), detection("0.55", "0.65", "1.0")),
    ]
    file = read_detections(write(tmp_path / "a.csv", rows))
    assert file.text.tolist() == [[0.1, 0.5], [0.3, 0.7], [0.15, 0.55]]
    assert file.image is not None
    assert file.image.tolist() == [[0.2, 0.6], [0.4, 0.8], [0.25, 0.65]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([detection("0.1", "0.2", "0")], "1 natural and 0 synthetic rows"),
        ([detection("0.1", "0.2", "0.5")], "label is '0.5'"),
        ([detection("nan", "0.2", "0")], "text_pred is 'nan'; it must be a probability"),
        ([detection("0.1", "1.2", "0")], "img_pred is '1.2'"),
        ([detection("x", "0.2", "0")], "text_pred is 'x'"),
    ],
)
def test_wrong_detections_are_refused(tmp_path: Path, rows: list[dict[str, str]], message: str) -> None:
    with pytest.raises(ResultsFileError, match=message):
        read_detections(write(tmp_path / "a.csv", rows))


def answers(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def item(chosen: Any) -> dict[str, Any]:
    return {"caption": "A cat.", "negative_caption": "A dog.", "answer": {"multiple_choice_answer": chosen}}


def test_a_refusal_to_choose_is_wrong(tmp_path: Path) -> None:
    # As positive-first/gpt4v-swap_obj.json of SugarCrepe does, it says its own accuracy beside its items.
    content = {"0": item("A cat."), "2": item("A dog."), "7": item(""), "accuracy": 0.5}
    path = answers(tmp_path / "gpt4v-swap_att.json", content)
    file = read_two_choice_answers(path)
    assert file.correct.tolist() == [True, False, False]
    assert {(one.type, one.subtype) for one in file.instances} == {("swap", "att")}
    # What the caller says goes before the file's name.
    file = read_two_choice_answers(path, type="add", subtype="obj")
    assert {(one.type, one.subtype) for one in file.instances} == {("add", "obj")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"5": item(None)}, "Item '5': it lacks caption, negative_caption or answer"),
        ({"5": "text"}, "Item '5'"),
        ({"5": {"caption": "A cat.", "negative_caption": "A dog.", "answer": "A cat."}}, "Item '5'"),
        ([1], "not a JSON object"),
        ("{", "line 1"),
    ],
)
def test_answers_of_another_shape_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(ResultsFileError, match=message):
        read_two_choice_answers(answers(tmp_path / "a.json", content))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
@pytest.mark.parametrize("read", [read_outcomes, read_correct, read_detections, read_two_choice_answers])
def test_any_bytes_are_read_or_refused_in_words(tmp_path: Path, read: Any, content: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    found, refusal = None, ""
    try:
        found = read(path)
    except ResultsFileError as refused:
        refusal = str(refused)
    assert (found is None) == bool(refusal)

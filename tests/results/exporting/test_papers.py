"""The description, the frozen rows and the tables beside the data."""

import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from results.exporting.croissant import DataFile, croissant, version_of
from results.exporting.dataset_card import DatasetCard
from results.exporting.release_rows import read_row, row_line
from results.exporting.rows import DecidedQuestion, GivenPrediction
from tests.results.exporting.test_formats import INSTANCE, RESPONSE, written

DECISION = DecidedQuestion(
    task="17",
    study="step-3",
    kind="best_of_n",
    state="accepted",
    outcome="accepted",
    progress="complete",
    rule="chosen-v1",
    winner="candidate-2",
    right="",
    answers=2,
    wanted=2,
    votes={"none": 0, "candidate-2": 2},
    settled=False,
    decided_at=datetime(2026, 11, 20, 13, 0, 0, 250_999, tzinfo=timezone(timedelta(hours=1))),
    simulated=False,
    key="17",
)
PREDICTION = GivenPrediction(
    task="17/image_to_text/image",
    model="CLIP",
    version="ViT-B-32",
    weights="openai",
    kind="image_to_text",
    variant="image",
    caption_rule="bivlc-release-v1",
    is_right=False,
    scores={"caption": 0.25, "negative_caption": 0.5},
)
DOSSIER = DatasetCard(
    name="step-4-v1",
    title="Small v1",
    release="v1",
    description="Four instances.",
    size=4,
    body="# Small\n",
    collection="Answers.",
    protocol=["One answer each."],
    annotations_per_item="1",
    analysis=["None."],
    limits=["Small."],
    privacy="Random names.",
)


@pytest.mark.parametrize(
    ("sort", "row"),
    [
        *(("instances", INSTANCE), ("responses", RESPONSE), ("predictions", PREDICTION)),
        *(("decisions", DECISION), ("decisions", replace(DECISION, decided_at=None))),
    ],
)
def test_a_frozen_row_comes_back_exactly(sort: Any, row: Any) -> None:
    line = row_line(sort, row)
    assert line.count(b"\n") == 1
    back = read_row(line, sort)
    assert read_row(line, "events") is None
    if sort == "instances":
        assert (list(back.images), back.captions) == (list(row.images), row.captions)
        assert written("jsonl", back) == written("jsonl", row)
    else:
        assert row_line(sort, back) == line


def rows_of(format: str, row: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(format, row), newline="")))


def test_decisions_leave_with_rule_and_version() -> None:
    assert rows_of("decisions", DECISION) == [
        {
            "task": "17",
            "study": "step-3",
            "kind": "best_of_n",
            "outcome": "accepted",
            "progress": "complete",
            "rule": "chosen-v1",
            "winner": "candidate-2",
            "right": "",
            "answers": "2",
            "wanted": "2",
            "votes": '{"candidate-2": 2, "none": 0}',
            "settled": "false",
            "decided_at": "2026-11-20T12:00:00.250Z",
            "simulated": "false",
            "key": "17",
            "soft_labels": '{"candidate-2": 1.0, "none": 0.0}',
            "posterior": "{}",
            "posterior_method": "",
            "difficulty": "",
        }
    ]


def test_predictions_leave_with_the_score_of_every_option() -> None:
    (row,) = rows_of("predictions", PREDICTION)
    assert (row["model"], row["version"], row["weights"]) == ("CLIP", "ViT-B-32", "openai")
    assert (row["is_right"], json.loads(row["scores"])) == ("false", {"caption": 0.25, "negative_caption": 0.5})


@pytest.mark.parametrize(
    ("name", "version"),
    [("v1", "1.0.0"), ("1.2", "1.2.0"), ("v1.2.3", "1.2.3"), ("camera-ready", "0.0.0"), ("", "0.0.0")],
)
def test_the_version_of_a_description_is_three_numbers(name: str, version: str) -> None:
    assert version_of(name) == version


def test_a_description_leaves_out_what_is_not_known() -> None:
    content = json.loads(croissant(DOSSIER, [DataFile("a.csv", "0" * 64, 12, "text/csv; charset=utf-8")]))
    assert not {"license", "citeAs", "datePublished"} & set(content)
    assert content["recordSet"] == []
    (file,) = content["distribution"]
    assert (file["sha256"], file["contentSize"], file["encodingFormat"]) == ("0" * 64, "12 B", "text/csv")


def test_the_web_process_does_not_load_what_writes_parquet() -> None:
    code = (
        "import sys\n"
        "from results.exporting import FORMATS, get_writer\n"
        "titles = [get_writer(name).title for name in FORMATS]\n"
        "sys.exit('pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# As version 878c08f froze them.
OLD_ROWS = {
    "responses": {
        **{"task": "17", "worker": "A-7KQ3F", "label": "none", "version": 1, "is_current": True, "counted": True},
        **{"shown_order": ["none"], "received_at": "2026-11-20T12:00:00+00:00", "first_choice_ms": None},
        **{"send_ms": None, "hidden_ms": None, "changes_of_mind": None, "window_width": None, "window_height": None},
        **{"survey": 1, "seat": 1, "session": "A-7KQ3F-1", "study": "step-3", "kind": "best_of_n", "right": ""},
    },
    "decisions": {
        **{"task": "17", "study": "step-3", "kind": "best_of_n", "state": "accepted", "rule": "chosen-v1"},
        **{"winner": "candidate-2", "right": "", "answers": 1, "votes": {"candidate-2": 1}, "settled": False},
        "decided_at": None,
    },
}


@pytest.mark.parametrize("format", ["responses", "decisions"])
def test_rows_that_an_older_version_froze_leave_with_what_it_did_not_note_empty(format: Any) -> None:
    line = json.dumps([format, OLD_ROWS[format]]).encode()
    (row,) = rows_of(format, read_row(line, format))
    assert (row["task"], row["simulated"], row["key"]) == ("17", "", "")
    if format == "decisions":
        assert (row["outcome"], row["progress"], row["wanted"], row["winner"]) == ("", "", "", "candidate-2")

import csv
import io
import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from results.exporting import get_writer
from results.exporting.base import TextWriter
from results.exporting.rows import (
    DECISION_COLUMNS,
    INSTANCE_COLUMNS,
    PREDICTION_COLUMNS,
    RESPONSE_COLUMNS,
    AcceptedInstance,
    AcceptedQuestion,
    ExportedImage,
    GivenResponse,
    RatingSummary,
)
from results.exporting.spreadsheets import cell

SHA_A, SHA_B, SHA_C = "a" * 64, "b" * 64, "c" * 64

INSTANCE = AcceptedInstance(
    task="17",
    key="17",
    type="swap",
    subtype="obj",
    split="",
    captions={"caption": "A dog\nchases “a cat”.", "negative_caption": "=A cat chases a dog."},
    original_captions={"negative_caption": "=a cat chases a dog", "caption": "a dog\nchases “a cat”"},
    caption_rule="bivlc-release-v1",
    images=(
        ExportedImage("negative_image", 0, "17_2.jpg", SHA_B, 512, 512, "made", "CC0", "SDXL"),
        ExportedImage("candidate", 0, "17_0.jpg", SHA_C, 512, 512, "made", "CC0", "SDXL"),
        ExportedImage("image", 0, "000000000017.jpg", SHA_A, 640, 480, "COCO", "CC BY 4.0", ""),
    ),
    study="step-3",
    kind="best_of_n",
    decision="accepted",
    rule="chosen-v1",
    winner="candidate-2",
    settled=False,
    answers=1,
    votes={"candidate-2": 1},
    source_file="manifest.csv",
    source_row=18,
    simulated=True,
    questions=(AcceptedQuestion("17", "best_of_n", "", "chosen-v1", "candidate-2", False, 1, {"candidate-2": 1}),),
)

RESPONSE = GivenResponse(
    task="17",
    worker="A-7KQ3F",
    label="none",
    version=2,
    is_current=True,
    counted=True,
    shown_order=("candidate-1", "candidate-0", "none"),
    received_at=datetime(2026, 11, 20, 13, 0, 0, 250_999, tzinfo=timezone(timedelta(hours=1))),
    first_choice_ms=900,
    send_ms=1500,
    hidden_ms=0,
    changes_of_mind=None,
    window_width=1366,
    window_height=768,
    survey=1,
    seat=2,
    session="A-7KQ3F-1",
    study="step-3",
    kind="best_of_n",
    right="candidate-3",
    simulated=False,
    key="17",
)


def written(format: str, row: Any) -> str:
    out = io.StringIO(newline="")
    writer = get_writer(format)
    assert isinstance(writer, TextWriter)
    writer.start(out)
    writer.write(row, out)
    return out.getvalue()


def test_jsonl_holds_the_instance_exactly_as_stored() -> None:
    lines = written("jsonl", INSTANCE).splitlines()
    assert len(lines) == 1
    record = json.loads(lines[0])
    del record["images"]
    assert record.pop("captions") == {"caption": "A dog\nchases “a cat”.", "negative_caption": "=A cat chases a dog."}
    assert record == {
        "key": "17",
        "image": "000000000017.jpg",
        "caption": "A dog\nchases “a cat”.",
        "negative_caption": "=A cat chases a dog.",
        "negative_image": "17_2.jpg",
        "type": "swap",
        "subtype": "obj",
        "split": "",
        "image_sha256": SHA_A,
        "negative_image_sha256": SHA_B,
        "original_captions": {"caption": "a dog\nchases “a cat”", "negative_caption": "=a cat chases a dog"},
        "caption_rule": "bivlc-release-v1",
        "decision": "accepted",
        "rule": "chosen-v1",
        "winner": "candidate-2",
        "settled": False,
        "answers": 1,
        "votes": {"candidate-2": 1},
        "simulated": True,
        "study": "step-3",
        "kind": "best_of_n",
        "task": "17",
        "item": "",
        "questions": [
            {
                "task": "17",
                "kind": "best_of_n",
                "variant": "",
                "rule": "chosen-v1",
                "winner": "candidate-2",
                "settled": False,
                "answers": 1,
                "votes": {"candidate-2": 1},
            }
        ],
        "source_file": "manifest.csv",
        "source_row": 18,
        "pair_roles": {
            "caption": "caption",
            "image": "image",
            "negative_caption": "negative_caption",
            "negative_image": "negative_image",
        },
        "target": "",
        "fields": "",
        "soft_labels": {"candidate-2": 1.0},
        "posterior": {},
        "posterior_method": "",
        "difficulty": None,
    }


def test_jsonl_holds_every_image_with_its_role_and_origin() -> None:
    images = json.loads(written("jsonl", INSTANCE))["images"]
    assert images[2] == {
        "role": "image",
        "position": 0,
        "filename": "000000000017.jpg",
        "sha256": SHA_A,
        "width": 640,
        "height": 480,
        "source": "COCO",
        "licence": "CC BY 4.0",
        "generator": "",
        "file": f"{SHA_A}.jpg",
    }
    assert len(images) == 3


def test_jsonl_leaves_an_awaited_image_null() -> None:
    waiting = AcceptedInstance(
        **{name: getattr(INSTANCE, name) for name in AcceptedInstance.__slots__}
        | {"images": [ExportedImage("image", 0, "later.jpg", None)]}
    )
    record = json.loads(written("jsonl", waiting))
    assert (record["image"], record["image_sha256"], record["negative_image"]) == ("later.jpg", "", "")
    assert record["images"][0]["sha256"] is None


def test_csv_read_back_gives_the_columns_and_disarms_formulas() -> None:
    rows = list(csv.DictReader(io.StringIO(written("csv", INSTANCE), newline="")))
    assert len(rows) == 1
    row = rows[0]
    assert list(row)[:8] == [
        "key",
        "image",
        "caption",
        "negative_caption",
        "negative_image",
        "type",
        "subtype",
        "split",
    ]
    assert "images" not in row
    assert row["caption"] == "A dog\nchases “a cat”."
    assert row["negative_caption"] == "'=A cat chases a dog."
    assert row["negative_image"] == "17_2.jpg"
    assert json.loads(row["votes"]) == {"candidate-2": 1}
    assert (row["image_source"], row["image_licence"], row["image_generator"]) == ("COCO", "CC BY 4.0", "")
    assert (row["negative_image_licence"], row["negative_image_generator"]) == ("CC0", "SDXL")


def test_responses_begin_with_task_worker_label() -> None:
    rows = list(csv.reader(io.StringIO(written("responses", RESPONSE), newline="")))
    assert len(rows) == 2
    assert rows[0][:3] == ["task", "worker", "label"]
    assert dict(zip(rows[0], rows[1], strict=True)) == {
        "task": "17",
        "worker": "A-7KQ3F",
        "label": "none",
        "version": "2",
        "is_current": "true",
        "counted": "true",
        "left_out": "",
        "simulated": "false",
        "shown_order": '["candidate-1", "candidate-0", "none"]',
        "received_at": "2026-11-20T12:00:00.250Z",
        "first_choice_ms": "900",
        "send_ms": "1500",
        "hidden_ms": "0",
        "changes_of_mind": "",
        "window_width": "1366",
        "window_height": "768",
        "survey": "1",
        "seat": "2",
        "session": "A-7KQ3F-1",
        "study": "step-3",
        "kind": "best_of_n",
        "right": "candidate-3",
        "key": "17",
        "answer": "",
        "unmeasured": "",
        "writing_keys": "",
        "writing_pastes": "",
        "writing_pasted": "",
        "writing_focus_losses": "",
        "writing_pauses": "",
        "writing_paused_ms": "",
        "writing_from_first_key_ms": "",
        "response": "",
        "retrievers": "",
        "found": "",
        "consent_version": "",
        "consents": "",
    }


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_the_same_row_gives_the_same_bytes(format: str) -> None:
    turned = {name: getattr(INSTANCE, name) for name in AcceptedInstance.__slots__} | {
        "original_captions": dict(reversed(list(INSTANCE.original_captions.items())))
    }
    assert written(format, AcceptedInstance(**turned)) == written(format, INSTANCE)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "\n=1+1"])
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(text: str) -> None:
    assert cell(text) == "'" + text


@pytest.mark.parametrize("value", ["a - b", "A dog.", "", -1, 3, None])
def test_other_cells_stay_as_they_are(value: Any) -> None:
    assert cell(value) == value


@pytest.mark.parametrize(
    "columns",
    [INSTANCE_COLUMNS, RESPONSE_COLUMNS, DECISION_COLUMNS, PREDICTION_COLUMNS, RatingSummary.__slots__],
)
def test_the_guide_names_every_column(columns: tuple[str, ...]) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "exports.md").read_text(encoding="utf-8")
    assert [name for name in columns if f"`{name}`" not in guide] == []

import csv
from io import BytesIO, StringIO
from typing import Any

import pytest

from studies.importing import Record, RowProblem, SourceImage, get_importer
from tests.studies.real_data import REAL_DATA, needs_real_data
from tests.studies.source_files import json_lines

read = get_importer("bivlc")
ROW = {
    "image": "positive/0.jpg",
    "caption": "A man throwing a ball.",
    "negative_caption": "A man throwing a child.",
    "negative_image": "negative/0.png",
    "type": "replace",
    "subtype": "obj",
}
PRINTED = "<PIL.JpegImagePlugin.JpegImageFile image mode=RGB size=500x332 at 0x7F89A4567AF0>"


def table(*rows: dict[str, str]) -> bytes:
    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]), quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def expected(row: int, key: str, **fields: Any) -> Record:
    return Record(
        **{
            "row": row,
            "key": key,
            "captions": {"caption": "A man throwing a ball.", "negative_caption": "A man throwing a child."},
            "images": [SourceImage("image", "positive/0.jpg"), SourceImage("negative_image", "negative/0.png")],
            "type": "replace",
            "subtype": "obj",
            **fields,
        }
    )


@pytest.mark.parametrize("content", [table(ROW, ROW), json_lines(ROW, ROW)], ids=["csv", "jsonl"])
def test_rows_are_keyed_by_their_place_in_the_release(content: bytes) -> None:
    assert list(read(BytesIO(content))) == [expected(1, "0"), expected(2, "1")]


def test_a_column_key_wins_and_further_columns_are_kept() -> None:
    row = ROW | {"key": "3015", "split": "test", "seed": "7", "licence": "MIT"}
    licensed = [SourceImage("image", "positive/0.jpg", licence="MIT")]
    licensed.append(SourceImage("negative_image", "negative/0.png", licence="MIT"))
    fields = {"split": "test", "images": licensed, "reference": {"other": {"seed": "7"}}}
    assert list(read(BytesIO(table(row)))) == [expected(1, "3015", **fields)]


def test_an_image_may_be_an_object_with_its_path() -> None:
    rows = json_lines(ROW | {"image": {"bytes": None, "path": "positive/0.jpg"}})
    assert list(read(BytesIO(rows))) == [expected(1, "0")]


MALFORMED: list[tuple[str, bytes, str]] = [
    ("an empty file", b"", "The file: It is empty."),
    ("no negative image", table({k: v for k, v in ROW.items() if k != "negative_image"}), "The file: It lacks the col"),
    ("no caption", json_lines({k: v for k, v in ROW.items() if k != "caption"}), "Record 1, caption: The field is mi"),
    ("null for a type", json_lines({**ROW, "type": None}), "Record 1, type: The field is missing."),
    ("an empty caption", table(ROW | {"caption": " "}), "Record 1, caption: The caption is empty."),
    ("an empty file name", table(ROW | {"image": ""}), "Record 1, image: No image is named."),
    ("a list for an image", json_lines(ROW | {"image": []}), "Record 1, image: The field must be a text, not a list."),
    ("an object without path", json_lines(ROW | {"image": {}}), "Record 1, image: The field must be a text, not an ob"),
    ("a way out", table(ROW | {"negative_image": "../a.jpg"}), "Record 1, negative_image: The file name ../a.jpg lea"),
    ("a printed image", table(ROW | {"image": PRINTED}), "Record 1, image: The field is a printed Python object, not"),
]


@pytest.mark.parametrize(("content", "sentence"), [bad[1:] for bad in MALFORMED], ids=[bad[0] for bad in MALFORMED])
def test_what_is_malformed_is_named(content: bytes, sentence: str) -> None:
    (problem,) = read(BytesIO(content))
    assert isinstance(problem, RowProblem)
    assert str(problem).startswith(sentence)


@needs_real_data
def test_a_real_result_file_is_recognised_as_one_in_every_row() -> None:
    with (REAL_DATA / "bivlc/results/BiVLC_ViT-B-32.csv").open("rb") as file:
        problems = list(read(file))
    assert len(problems) == 2 * 2933
    assert all("import_predictions" in str(problem) for problem in problems)


@needs_real_data
def test_the_released_captions_have_no_problem_once_files_stand_for_the_images() -> None:
    with (REAL_DATA / "bivlc/results/BiVLC_ViT-B-32.csv").open(encoding="utf-8", newline="") as file:
        rows = [
            {name: row[name] for name in ROW} | {"image": f"{number}.jpg", "negative_image": f"{number}.png"}
            for number, row in enumerate(csv.DictReader(file))
        ]
    records = [item for item in read(BytesIO(table(*rows))) if isinstance(item, Record)]
    assert len(records) == 2933
    assert [records[0].key, records[-1].key] == ["0", "2932"]

"""Any table with a mapping: CSV, TSV, JSON, JSON lines and Parquet, and every problem that it reports."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.importing import Record, RowProblem
from studies.importing.bivlc_manifest import read as read_manifest
from studies.importing.table import read, sample
from tests.studies.real_data import REAL_DATA, needs_real_data
from tests.studies.source_files import NamedBytes, arrow_bytes, json_lines, parquet_bytes, picture_bytes

MAPPING = {"id": "key", "text": "caption:caption", "a": "image:candidate", "b": "image:candidate", "best": "right"}
ROWS = [
    {"id": 1, "text": "A vase.", "a": "1a.jpg", "b": "1b.jpg", "best": "b", "n": 3},
    {"id": 2, "text": "A fish.", "a": "2a.jpg", "b": "", "best": None, "n": None},
]
CSV = "id,text,a,b,best,n\n1,A vase.,1a.jpg,1b.jpg,b,3\n2,A fish.,2a.jpg,,,\n"


def records(content: bytes, name: str = "pairs.csv", **mapping: str) -> list[Record]:
    found = list(read(NamedBytes(content, name), MAPPING | mapping))
    assert all(isinstance(item, Record) for item in found), found
    return found  # type: ignore[return-value]


def problems(content: bytes, mapping: dict[str, str] = MAPPING, name: str = "pairs.csv") -> list[str]:
    found = list(read(NamedBytes(content, name), mapping))
    assert all(isinstance(item, RowProblem) for item in found), found
    return [str(item) for item in found]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (CSV.encode(), "pairs.csv"),
        (CSV.replace(",", ";").encode(), "pairs.csv"),
        (b"\xef\xbb\xbf" + CSV.replace(",", "\t").replace("\n", "\r\n").encode(), "pairs.tsv"),
        (json.dumps(ROWS).encode(), "pairs.json"),
        (json.dumps(ROWS, indent=1).encode(), "pairs.json"),
        (json_lines(*ROWS), "pairs.jsonl"),
        (json_lines(*ROWS), "pairs.json"),
        (parquet_bytes(ROWS), "pairs.parquet"),
    ],
)
def test_the_same_rows_in_every_kind_of_file(content: bytes, name: str) -> None:
    first, second = records(content, name)
    assert (first.row, first.key, first.captions) == (1, "1", {"caption": "A vase."})
    assert [(image.role, image.filename) for image in first.images] == [
        ("candidate", "1a.jpg"),
        ("candidate", "1b.jpg"),
    ]
    assert first.reference["right"] == "candidate-1"
    assert str(first.reference["other"]["n"]) == "3"
    # Empty cells are left out.
    assert (second.row, second.key, [image.filename for image in second.images]) == (2, "2", ["2a.jpg"])
    assert second.reference == {}


def test_an_object_of_items_has_their_keys_as_a_column() -> None:
    content = json.dumps({"x": {"text": "A vase."}, "y": {"text": "A fish."}}).encode()
    found = list(read(NamedBytes(content, "items.json"), {"key": "key", "text": "caption:caption"}))
    assert [item.key for item in found if isinstance(item, Record)] == ["x", "y"]


def test_without_columns_for_them_key_and_split_come_from_the_name_of_the_file() -> None:
    rows = NamedBytes(parquet_bytes([{"text": "A vase."}]), "validation-00000-of-00002.parquet")
    (found,) = read(rows, {"text": "caption:caption"})
    assert isinstance(found, Record)
    assert (found.key, found.split) == ("validation-00000-of-00002/0", "validation")


def test_lists_fill_roles_in_order() -> None:
    content = json_lines({"id": 1, "texts": ["One.", "Two."], "photos": [{"path": "1.jpg"}, "2.jpg"], "best": 1})
    mapping = {"id": "key", "texts": "caption:caption", "photos": "image:set", "best": "right"}
    (found,) = read(NamedBytes(content, "sets.jsonl"), mapping)
    assert isinstance(found, Record)
    assert found.captions == {"caption": "One.", "caption_2": "Two."}
    assert [(image.role, image.filename) for image in found.images] == [("set", "1.jpg"), ("set", "2.jpg")]
    assert found.reference == {"right": "set-1"}


@pytest.mark.parametrize(
    ("cell", "right"),
    [
        ("a", "candidate-0"),
        ("candidate-1", "candidate-1"),
        ("1", "candidate-1"),
        (0, "candidate-0"),
        (1.0, "candidate-1"),
        ("text", "caption"),
        ("caption", "caption"),
        ("none", "none"),
        ([["b"], ["a"]], [["b"], ["a"]]),
    ],
)
def test_a_right_answer_names_an_option_a_column_or_a_position(cell: Any, right: Any) -> None:
    (found,) = records(json_lines(ROWS[0] | {"best": cell}), "pairs.jsonl")
    assert found.reference["right"] == right


@pytest.mark.parametrize("cell", ["c", "2", 7, True, "candidate-2"])
def test_a_right_answer_that_is_no_option_is_refused(cell: Any) -> None:
    (told,) = problems(json_lines(ROWS[0] | {"best": cell}), name="pairs.jsonl")
    assert "is not one of the row's options: caption, candidate, candidate-0, candidate-1, none." in told


@pytest.mark.parametrize(
    ("content", "mapping", "told"),
    [
        (CSV, {}, "The file: The format table needs a mapping"),
        (CSV, MAPPING | {"gone": "type"}, "The file, gone: The file has no column 'gone'."),
        (CSV, MAPPING | {"n": "key"}, "The file, n: The column 'id' is also the key."),
        (CSV, MAPPING | {"n": "caption:caption"}, "The file, n: The column 'text' is also the caption caption."),
        (CSV, MAPPING | {"n": "size"}, "The file, n: 'size' is unknown."),
        (CSV, MAPPING | {"n": "type:big"}, "The file, n: 'type:big' is unknown."),
        (CSV, MAPPING | {"n": "image:Ü"}, "The file, n: The role 'Ü' is not a name"),
        (CSV, MAPPING | {"n": "image"}, "The file, n: The image has no role."),
        (CSV, {"id": "key"}, "The file: No column is a caption or an image."),
        ("", MAPPING, "The file: It is empty."),
        ("id,text,a,b,best\n", MAPPING, "The file: It has a header but no records."),
        ("id,id\n1,2\n", MAPPING, "The file: Its header names id more than once."),
        (
            ",id,\n0,1,2\n",
            MAPPING,
            "The file: Its header has 2 columns without a name. Give each a name, or delete it.",
        ),
        ("id,text,a,b,best\n1,,a.jpg,b.jpg,\n", MAPPING, "Record 1, text: The row has no caption."),
        ("id,text,a,b,best\n1,A vase.,,,\n", MAPPING, "Record 1, a: The row names no image."),
        ("id,text,a,b,best\n,A vase.,a.jpg,b.jpg,\n", MAPPING, "Record 1, id: The row has no key."),
        (
            "id,text,a,b,best\n1,A vase.,../a.jpg,b.jpg,\n",
            MAPPING,
            "Record 1, a or b: The file name ../a.jpg leads out",
        ),
        ("id,text,a,b,best\n1,A vase.,a.jpg\n", MAPPING, "Record 1: The row has 3 fields where the header has 5."),
        (
            '[{"id": 1, "text": {"en": "A vase."}}]',
            {"text": "caption:caption"},
            "Record 1, text: The cell holds an object.",
        ),
        ('[{"a": 1}]', {"a": "image:image"}, "Record 1, a: The cell holds a number where the name of an image file"),
        ('{"n": 1}\n{"n": 2}', {"a": "image:image"}, "Record 1, a: The row names no image."),
        ('{\n"x": 1, "y": {}}', {"a": "image:image"}, "Record 1: The item is a number, not an object."),
        ("[1]", {"a": "image:image"}, "Record 1: The item is a number, not an object."),
        ("PAR1 and more", MAPPING, "The file: It cannot be read as a Parquet file."),
    ],
)
def test_a_malformed_file_or_mapping_is_told(content: str, mapping: dict[str, str], told: str) -> None:
    found = problems(content.encode(), mapping)
    assert found[0].startswith(told)


def test_a_parquet_file_without_rows_is_told() -> None:
    schema = pa.schema([("text", pa.string())])
    assert problems(parquet_bytes([], schema), {"text": "caption:caption"}) == [
        "The file: It has columns but no records."
    ]


def test_pictures_in_parquet_are_named_by_their_cells_and_labels_by_their_names() -> None:
    picture = {"bytes": picture_bytes(), "path": "x.jpg"}
    features = {"kind": {"names": ["real", "drawn"], "_type": "ClassLabel"}}
    schema = pa.schema(
        [
            ("photo", pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
            ("more", pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))),
            ("kind", pa.int64()),
            ("score", pa.float64()),
        ],
        metadata={"huggingface": json.dumps({"info": {"features": features}})},
    )
    row = {"photo": picture, "more": [picture, picture], "kind": 1, "score": float("nan")}
    content = parquet_bytes([row, row], schema, row_group_size=1)
    mapping = {"photo": "image:image", "more": "image:set", "kind": "type"}
    _, second = read(NamedBytes(content, "test.parquet"), mapping)
    assert isinstance(second, Record)
    assert [(image.role, image.filename) for image in second.images] == [
        ("image", "test.parquet#cell=1,photo"),
        ("set", "test.parquet#cell=1,more/0"),
        ("set", "test.parquet#cell=1,more/1"),
    ]
    assert (second.type, second.reference) == ("drawn", {})


def test_a_sample_has_all_columns_of_the_first_rows() -> None:
    shown = sample(NamedBytes(json_lines({"a": 1}, {"b": 2}, {"c": 3}), "x.jsonl"), 2)
    assert (list(shown.columns), list(shown.rows)) == (["a", "b"], [{"a": 1}, {"b": 2}])


cells = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["path", "bytes", "x"]), inner),
    max_leaves=6,
)


@given(rows=st.lists(st.dictionaries(st.sampled_from([*MAPPING, "n"]), cells), min_size=1, max_size=3))
def test_whatever_the_cells_hold_there_are_records_or_problems(rows: list[dict[str, Any]]) -> None:
    found = list(read(NamedBytes(json.dumps(rows).encode(), "any.json"), MAPPING))
    assert found
    assert all(item.reason.endswith(".") for item in found if isinstance(item, RowProblem))


@given(position=st.integers(0, 2000), byte=st.binary(min_size=1, max_size=2))
def test_a_damaged_parquet_file_gives_records_or_problems(position: int, byte: bytes) -> None:
    content = parquet_bytes(ROWS)
    damaged = content[:position] + byte + content[position + 1 :]
    assert list(read(NamedBytes(damaged, "pairs.parquet"), MAPPING))


@needs_real_data
def test_the_real_manifest_gives_what_its_own_importer_gives() -> None:
    mapping = {"index": "key", "caption": "caption:caption", "negative_caption": "caption:negative_caption"}
    mapping |= {"type": "type", "subtype": "subtype", "filename": "ignored"}
    mapping |= {f"hn_img_{number}": "image:candidate" for number in range(4)}
    file = REAL_DATA / "bivlc/BiVLC_negative_imgs.csv"
    with file.open("rb") as mapped, file.open("rb") as known:
        count = 0
        for ours, theirs in zip(read(mapped, mapping), read_manifest(known), strict=True):
            assert isinstance(ours, Record)
            assert isinstance(theirs, Record)
            assert (ours.key, ours.captions, ours.type, ours.subtype) == (
                *(theirs.key, theirs.captions),
                *(theirs.type, theirs.subtype),
            )
            candidates = [image.filename for image in theirs.images if image.role == "candidate"]
            assert [image.filename for image in ours.images] == candidates
            count += 1
    assert count == 7_512


@pytest.mark.parametrize("content", [arrow_bytes([{"text": "A vase."}]), b"ARROW1\0\0"])
def test_an_arrow_file_on_the_server_is_told_to_be_written_as_parquet(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "data.arrow"
    file.write_bytes(content)
    with file.open("rb") as stream:
        assert "write the dataset as Parquet: dataset.to_parquet(FILE)." in sample(stream, 1).problem

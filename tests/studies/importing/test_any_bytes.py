"""Whatever the bytes are, an importer gives records and problems; it never fails."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.importing import IMPORTERS, Note, Record, RowProblem, get_importer
from studies.importing.bivlc_manifest import COLUMNS
from tests.studies.source_files import NamedBytes, manifest_bytes, manifest_row

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
names = st.sampled_from(
    [
        *("key", "id", "pair_id", "caption", "negative_caption", "captions", "images", "image", "negative_image"),
        *("filename", "type", "subtype", "split", "reference", "sha256", "source", "licence", "generators"),
    ]
)


def assert_records_or_problems(name: str, content: bytes, file: str = "add_obj.json") -> None:
    items = list(get_importer(name)(NamedBytes(content, file)))
    assert items
    for item in items:
        assert isinstance(item, Record | Note | RowProblem)
        if isinstance(item, Record):
            assert item.row >= 1
            assert item.key.strip()
            assert all(text.strip() for text in item.captions.values())
        elif isinstance(item, Note):
            assert item.row >= 1
            assert item.key.strip()
        else:
            assert item.reason.endswith(".")


@pytest.mark.parametrize("name", IMPORTERS)
@given(content=st.binary(max_size=400))
def test_arbitrary_bytes(name: str, content: bytes) -> None:
    assert_records_or_problems(name, content)


@pytest.mark.parametrize("name", ["bivlc", "pairs", "jsonl"])
@given(rows=st.lists(st.dictionaries(names, values, max_size=8), min_size=1, max_size=3))
def test_arbitrary_objects(name: str, rows: list[dict[str, Any]]) -> None:
    assert_records_or_problems(name, "\n".join(json.dumps(row) for row in rows).encode())


@given(items=st.dictionaries(st.from_regex(r"[0-9]{1,4}") | st.text(), st.dictionaries(names, values) | values))
def test_arbitrary_items(items: dict[str, Any]) -> None:
    assert_records_or_problems("sugarcrepe", json.dumps(items).encode())


@given(
    items=st.dictionaries(
        st.from_regex(r"(open-images|video-)[a-z]{1,3}") | st.text(),
        st.dictionaries(st.from_regex(r"[0-9]{1,2}") | st.text(), st.text() | values, max_size=3) | values,
        max_size=3,
    )
)
def test_arbitrary_image_sets(items: dict[str, Any]) -> None:
    assert_records_or_problems("imagecode", json.dumps(items).encode())


cases = st.sampled_from(
    [
        *("image", "image_path", "caption", "caption_options", "true_caption", "false_caption", "relation_name"),
        *("attributes", "bbox_x", "bbox_y", "bbox_w", "bbox_h"),
    ]
)


@pytest.mark.parametrize(("name", "file"), [("aro", "coco_order.json"), ("rococo", "danger.json")])
@given(items=st.lists(st.dictionaries(cases, st.lists(st.text(), max_size=11) | values) | values, max_size=3))
def test_arbitrary_lists(name: str, file: str, items: list[Any]) -> None:
    assert_records_or_problems(name, json.dumps(items).encode(), file)


@given(cells=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=4, max_size=4))
def test_arbitrary_tables_of_tabs(cells: list[str]) -> None:
    rows = "\n".join("\t".join(row) for row in (["", "title", "filepath", "neg_caption"], cells))
    assert_records_or_problems("aro", rows.encode(), "valid_neg_clip.tsv")


@given(cells=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=10, max_size=10))
def test_arbitrary_cells(cells: list[str]) -> None:
    assert_records_or_problems("bivlc-manifest", manifest_bytes(dict(zip(COLUMNS, cells, strict=True))))


@pytest.mark.parametrize("name", ["bivlc", "bivlc-manifest", "pairs"])
@given(position=st.integers(0, 300), byte=st.binary(min_size=1, max_size=2))
def test_a_damaged_table(name: str, position: int, byte: bytes) -> None:
    content = manifest_bytes(manifest_row(0), manifest_row(1))
    assert_records_or_problems(name, content[:position] + byte + content[position + 1 :])

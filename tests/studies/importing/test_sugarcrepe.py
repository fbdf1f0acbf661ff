import json
from pathlib import Path
from typing import Any

import pytest

from studies.actions.imports.import_state import ImportRefused
from studies.actions.imports.importer import import_files
from studies.importing import Note, Record, RowProblem, SourceImage, get_importer
from studies.models import Instance, InstanceImage, Project
from tests.factories import NOON, TESTS
from tests.studies.real_data import REAL_DATA, needs_real_data
from tests.studies.source_files import NamedBytes, picture_bytes

read = get_importer("sugarcrepe")
ITEM = {"filename": "000000219578.jpg", "caption": "A cat on a couch.", "negative_caption": "A cat under a couch."}
SEVEN = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")


def items_of(content: Any, name: str = "replace_rel.json") -> list[Record | Note | RowProblem]:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return list(read(NamedBytes(data, name)))


def test_an_item_becomes_a_record_named_by_its_file_and_its_number() -> None:
    assert items_of({"0": ITEM, "12": ITEM | {"correct": True}}) == [
        Record(
            row=row,
            key=key,
            captions={"caption": "A cat on a couch.", "negative_caption": "A cat under a couch."},
            images=[SourceImage(role="image", filename="000000219578.jpg")],
            type="replace",
            subtype="rel",
            reference={"coco": "000000219578.jpg"} | other,
        )
        for row, key, other in [(1, "replace_rel/0", {}), (2, "replace_rel/12", {"other": {"correct": True}})]
    ]


def test_the_name_may_have_a_folder_and_the_file_a_byte_order_mark() -> None:
    content = b"\xef\xbb\xbf" + json.dumps({"0": ITEM}).encode()
    (record,) = items_of(content, "somewhere/data/swap_att.json")
    assert isinstance(record, Record)
    assert (record.key, record.type, record.subtype) == ("swap_att/0", "swap", "att")


@pytest.mark.parametrize("name", ["", "gpt4v-add_obj.json", "add_obj.csv", "delete_obj.json", "add.json"])
def test_a_file_whose_name_does_not_say_its_category_is_refused(name: str) -> None:
    (problem,) = items_of({"0": ITEM}, name)
    assert str(problem).startswith(f"The file: Its name {name!r} does not say its type and subtype.")


MALFORMED: list[tuple[str, Any, str]] = [
    ("an empty file", b"", "The file: It is not JSON (Expecting value at line 1, character 1)."),
    ("a list", [ITEM], "The file: It is not a JSON object of items by key."),
    ("no items", {}, "The file: It is not a JSON object of items by key."),
    ("an open object", b'{"0": {\n"filename": ', "The file: It is not JSON (Expecting value at line 2, character 13)."),
    ("Latin-1", b'{"caf\xe9": {}}', "The file: It is not UTF-8: the byte at position 5 (from 0) fits no character."),
    ("a key twice", b'{"7": {}, "7": {}}', "The file: The field '7' appears more than once."),
    ("not a number", b'{"0": NaN}', "The file: NaN is not JSON."),
    ("too deep", b"[" * 100_000, "The file: It cannot be read as JSON"),
    ("a word for a key", {"first": ITEM}, "Record 1, key: 'first' is not a whole number."),
    ("a text for an item", {"0": "A cat."}, "Record 1: The item is a text, not an object with filename, caption"),
    ("no file name", {"3": {**ITEM, "filename": None}}, "Record 1, filename: The field is missing."),
    ("a number for a caption", {"0": ITEM | {"caption": 3}}, "Record 1, caption: The field must be a text, not a num"),
    ("an empty caption", {"0": ITEM | {"negative_caption": " "}}, "Record 1, negative_caption: The caption is empty."),
    ("a way out", {"0": ITEM | {"filename": "../a.jpg"}}, "Record 1, image: The file name ../a.jpg leads out"),
]


@pytest.mark.parametrize(("content", "sentence"), [bad[1:] for bad in MALFORMED], ids=[bad[0] for bad in MALFORMED])
def test_what_is_malformed_is_named(content: Any, sentence: str) -> None:
    (problem,) = items_of(content)
    assert isinstance(problem, RowProblem)
    assert str(problem).startswith(sentence)


def test_a_file_too_large_to_be_read_whole_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.importing.rows.LARGEST_OBJECT", 50)
    (problem,) = items_of({"0": ITEM})
    assert str(problem) == "The file: It is larger than 50 bytes. Split it into several files."


@pytest.mark.django_db
def test_several_files_are_imported_together_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "000000219578.jpg").write_bytes(picture_bytes())
    good, bad = tmp_path / "add_obj.json", tmp_path / "swap_att.json"
    good.write_text(json.dumps({"0": ITEM, "2": ITEM}))
    bad.write_text(json.dumps({"0": ITEM, "1": {**ITEM, "caption": ""}}))
    project = Project.objects.create(slug="crepe", name="Crêpe")
    with pytest.raises(ImportRefused) as refused:
        import_files(project=project, files=[good, bad], format="sugarcrepe", by=TESTS, now=NOON, images_dir=tmp_path)
    assert (refused.value.file, str(refused.value)) == ("swap_att.json", "Record 2, caption: The caption is empty.")
    assert not Instance.objects.exists()
    bad.write_text(json.dumps({"0": ITEM}))
    for added in (3, 0):
        summaries = import_files(
            project=project, files=[good, bad], format="sugarcrepe", by=TESTS, now=NOON, images_dir=tmp_path
        )
        assert sum(summary.added for summary in summaries) == added
    assert list(project.instances.values_list("key", "type", "subtype")) == [
        ("add_obj/0", "add", "obj"),
        ("add_obj/2", "add", "obj"),
        ("swap_att/0", "swap", "att"),
    ]
    assert {index.role for index in InstanceImage.objects.exclude(image=None)} == {"image"}


@needs_real_data
def test_the_seven_real_files_have_7511_items_one_number_missing() -> None:
    keys = []
    for name in SEVEN:
        with (REAL_DATA / f"sugarcrepe/{name}.json").open("rb") as file:
            records = list(read(file))
        assert all(isinstance(record, Record) for record in records)
        keys += [record.key for record in records if isinstance(record, Record)]
    assert len(keys) == len(set(keys)) == 7511
    assert {"swap_obj/107", "swap_obj/109"} <= set(keys)
    assert "swap_obj/108" not in keys

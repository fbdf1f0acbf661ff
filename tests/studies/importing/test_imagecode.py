import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from studies.importing import Note, Record, RowProblem, SourceImage, get_importer
from tests.studies.real_data import REAL_DATA, needs_real_data
from tests.studies.source_files import NamedBytes, json_lines

read = get_importer("imagecode")
IMAGECODE = REAL_DATA / "imagecode"
STATIC = "open-images-1815_f91d6f546e63f20d"
VIDEO = "MSR-VTT-videoTestVideo_video7047-shot1_0"
PLACES = [SourceImage("set", f"{STATIC}/#{place}of10") for place in range(10)]
NAMES = [f"sets/cups/img{number}.jpg" for number in (2, 10, 30, 4, 5, 6, 7, 8, 9, 100)]
LINE = {"directory": "cups", "kind": "video", "images": NAMES}
PHENOMENA = {"con": 474, "t": 30, "q": 97, "s": 141, "neg": 179, "v": 456, "n": 264, "cor": 83, "img": 24, "col": 85}


def items_of(content: Any, name: str = "train_data.json") -> list[Record | Note | RowProblem]:
    return list(read(NamedBytes(content if isinstance(content, bytes) else json.dumps(content).encode(), name)))


def record_of(content: Any, name: str = "train_data.json") -> Record:
    (record,) = items_of(content, name)
    assert isinstance(record, Record), record
    return record


def test_a_set_becomes_a_record_with_its_descriptions_in_their_order() -> None:
    described = {STATIC: {"7": "a sculpture ", "3": "T"}}
    assert items_of(described, "valid_data.json") == [
        Record(
            row=1,
            key=STATIC,
            captions={"description_1": "a sculpture ", "description_2": "T"},
            images=PLACES,
            type="static",
            split="valid",
            reference={"targets": [7, 3]},
        )
    ]


def test_a_list_of_descriptions_keeps_its_targets_to_itself_and_may_repeat_a_text() -> None:
    record = record_of({VIDEO: ["A girl.", "Two girls.", "A girl."]}, "test_data_unlabeled.json")
    assert record.captions == {"description_1": "A girl.", "description_2": "Two girls.", "description_3": "A girl."}
    assert (record.type, record.split, record.reference) == ("video", "test", {})
    nothing: list[Any] = [[], {}]
    for descriptions in nothing:
        record = record_of({STATIC: descriptions})
        assert (record.captions, record.reference, len(record.images)) == ({}, {}, 10)


@pytest.mark.parametrize(
    ("directory", "kind"),
    [
        ("open-images-1_a", "static"),
        ("MSR-VTT-a", "video"),
        ("video-storytelling-a", "video"),
        ("YouCook-a", "video"),
        ("static-of-mine", "static"),
        ("video-of-mine", "video"),
    ],
)
def test_what_a_folder_begins_with_says_whether_it_is_static_or_video(directory: str, kind: str) -> None:
    assert record_of({directory: ["A cup."]}).type == kind


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("some/where/train_data.json", "train"),
        ("valid_data.json", "valid"),
        ("val.json", "valid"),
        ("test_data_unlabeled.json", "test"),
        ("testing.json", ""),
        ("my_train.json", ""),
        ("", ""),
    ],
)
def test_the_split_is_what_the_name_of_the_file_begins_with(name: str, split: str) -> None:
    assert record_of({STATIC: ["A cup."]}, name).split == split


@pytest.mark.parametrize(
    ("directory", "descriptions", "name", "public"),
    [
        (STATIC, {"1": "A cup."}, "test_data.json", True),
        (STATIC, ["A cup."], "test_data_unlabeled.json", False),
        (STATIC, {"1": "A cup."}, "valid_data.json", False),
        ("static-mine", {"1": "A cup."}, "test_data.json", False),
    ],
)
def test_the_labels_of_the_published_test_split_are_known_to_be_public(
    directory: str, descriptions: Any, name: str, public: bool
) -> None:
    assert record_of({directory: descriptions}, name).reference.get("public_labels", False) is public


def test_a_line_names_its_images_which_stand_by_their_numbers() -> None:
    line = LINE | {"sha256": [f"{number:064x}" for number in range(10)], "licence": "MIT", "split": "val", "note": None}
    record = record_of(json_lines(line | {"topic": "cups", "descriptions": {"0": "A cup."}}), "sets_of_10.jsonl")
    assert [image.filename.rpartition("img")[2] for image in record.images] == [
        *("2.jpg", "4.jpg", "5.jpg", "6.jpg", "7.jpg", "8.jpg", "9.jpg", "10.jpg", "30.jpg", "100.jpg")
    ]
    # What is said of an image stays with it.
    assert [int(image.sha256, 16) for image in record.images] == [0, 3, 4, 5, 6, 7, 8, 1, 2, 9]
    assert {(image.role, image.licence) for image in record.images} == {("set", "MIT")}
    assert (record.key, record.split, record.type) == ("cups", "valid", "video")
    assert record.reference == {"targets": [0], "other": {"topic": "cups"}}


def test_images_without_numbers_stand_as_they_are_listed_and_those_without_names_by_their_place() -> None:
    names = [f"{letter}.png" for letter in "qwertyuiop"]
    assert [image.filename for image in record_of(json_lines(LINE | {"images": names})).images] == names
    record = record_of(json_lines({"directory": "cups", "kind": "static"}))
    assert record.images[9].filename == "cups/#9of10"


@pytest.mark.parametrize(
    ("kind", "type", "subtype"),
    [
        ("static", "static", ""),
        ("video", "video", ""),
        ("burst", "static", "burst"),
        ("multiview", "static", "multiview"),
    ],
)
def test_the_kind_of_a_line_is_its_type_or_what_it_is_besides_static(kind: str, type: str, subtype: str) -> None:
    record = record_of(json_lines(LINE | {"kind": kind}))
    assert (record.type, record.subtype) == (type, subtype)


def test_who_wrote_the_descriptions_is_a_note() -> None:
    about = {"5": "unseen_worker", "7": "train_worker"}
    assert items_of({STATIC: about}, "annotator_split_valid.json") == [
        Note(1, STATIC, {"5": {"author": "unseen_worker"}, "7": {"author": "train_worker"}})
    ]


def test_phenomena_are_noted_as_far_as_they_were_looked_for() -> None:
    def of_set(number: int) -> str:
        # Some lists begin with a comma.
        return (
            f'"open-images-{number}":\n  "5":\n    "description": "A cup: \\\n      \\ here"\n'
            '    "annotation": ",v, neg"\n    "visualization_id": "0"\n'
        )

    notes = items_of("".join(map(of_set, range(1100))).encode(), "manual_annotation_valid.yaml")
    assert len(notes) == 1002
    found = [note.about["5"] for note in notes if isinstance(note, Note)]
    assert [len(about["looked_for"]) for about in found] == [10] * 200 + [4] * 802
    assert found[200] == {"tags": ["neg", "v"], "looked_for": ["con", "n", "neg", "v"]}


def test_a_file_may_say_what_was_looked_for_in_each_description() -> None:
    about = {"5": {"annotation": "v", "looked_for": "v, con"}, "7": {"annotation": "", "looked_for": ""}}
    (note,) = items_of({STATIC: about}, "manual_annotation_valid.json")
    assert note == Note(1, STATIC, {"5": {"tags": ["v"], "looked_for": ["con", "v"]}})


PAIR = {"directory": STATIC, "pos_idx": 5, "neg_idx": 3, "caption": "A deer head."}


def test_pairs_of_images_become_a_note_for_each_set() -> None:
    pairs = [PAIR, PAIR | {"directory": VIDEO, "pos_idx": 0, "neg_idx": 2}, PAIR | {"pos_idx": 7, "neg_idx": 9}, PAIR]
    assert items_of(pairs, "valid_simple.json") == [
        Note(1, STATIC, {"5": {"paired": 3}, "7": {"paired": 9}}),
        Note(2, VIDEO, {"0": {"paired": 2}}),
    ]


def test_an_image_with_two_different_pairs_is_refused() -> None:
    problem, _ = items_of([PAIR, PAIR | {"neg_idx": 7}], "valid_simple.json")
    assert str(problem) == f"Record 2, neg_idx: Image 5 of {STATIC} already has neg_idx 3. Keep one of them."


MALFORMED: list[tuple[str, Any, str]] = [
    (
        "no known folder",
        {"kitchen": ["A cup."]},
        "Record 1, directory: Lineup does not know whether 'kitchen' is static or video",
    ),
    ("an empty file", b"", "The file: It is neither a JSON object nor a YAML mapping of items by key."),
    ("an empty list", [], "The file: It is not a JSON list of objects."),
    ("a list of texts", ["a"], "Record 1: The item is a text, not an object."),
    ("a list of sets", [{STATIC: {"1": "a"}}], "Record 1, directory: The field must be a text, not null. A list holds"),
    ("half a pair", [{"directory": STATIC, "pos_idx": 5}], "Record 1, neg_idx: The field must be a number from 0 to"),
    ("a pair in texts", [PAIR | {"pos_idx": "5"}], "Record 1, pos_idx: The field must be a number from 0 to 9."),
    ("a pair of truths", [PAIR | {"pos_idx": True}], "Record 1, pos_idx: The field must be a number from 0 to 9."),
    ("an eleventh image", [PAIR | {"neg_idx": 10}], "Record 1, neg_idx: The field must be a number from 0 to 9."),
    ("one image", [PAIR | {"neg_idx": 5}], "Record 1, neg_idx: The field must differ from pos_idx: a pair has two"),
    ("open JSON", b'{"a": \n', "The file: It is not JSON (Expecting value at line 2, character 1)."),
    ("open YAML", b'a: b\n"c: d\n', "The file: It is not YAML (line "),
    ("words", b"some words", "The file: It is neither a JSON object nor a YAML mapping of items by key."),
    ("Latin-1", b"caf\xe9: 1", "The file: It is not UTF-8: the byte at position 3"),
    ("NUL in YAML", b"a: \0", "The file: It cannot be read as YAML."),
    ("a set twice", f'{{"{STATIC}": {{}}, "{STATIC}": {{}}}}'.encode(), f"The file: The field '{STATIC}' appears more"),
    ("an index twice", f'{{"{STATIC}": {{"1": "a", "1": "b"}}}}'.encode(), "The file: The field '1' appears more t"),
    (
        "an index of eleven",
        {STATIC: {"10": "a"}},
        "Record 1, descriptions: '10' is not an index of one of the ten images.",
    ),
    ("an index in words", {STATIC: {"one": "a"}}, "Record 1, descriptions: 'one' is not an index of one of the ten"),
    ("a number for a set", {STATIC: 5}, "Record 1, descriptions: The descriptions are a number, not an object"),
    ("a number for a text", {STATIC: {"1": 5}}, "Record 1, descriptions: A description must be a text, not a number."),
    ("an empty text", {STATIC: ["a", " "]}, "Record 1, description_2: The caption is empty."),
    ("a way out", {"open-images/../..": []}, 'Record 1, directory: A part between slashes is "." or ".."'),
    ("an index of notes", {STATIC: {"x": "train_worker"}}, "Record 1, descriptions: 'x' is not an index of one of the"),
    ("a note on nothing", {"": {"1": "train_worker"}}, "Record 1, directory: It is empty."),
    ("an unknown code", {STATIC: {"1": {"annotation": "con,xyz"}}}, "Record 1, 1: The code 'xyz' is unknown; it must"),
    (
        "an unknown code that was looked for",
        {STATIC: {"5": {"annotation": "v", "looked_for": "v,zz"}}},
        "Record 1, 5: The code 'zz' under looked_for is unknown.",
    ),
    ("no codes", {STATIC: {"1": {"annotation": "s"}, "2": {}}}, "Record 1, 2: `annotation` must be a text: codes"),
    ("nine images", json_lines(LINE | {"images": NAMES[:9]}), "Record 1, images: An image set has 10 images; the row"),
    ("no list", json_lines(LINE | {"images": "a.jpg"}), "Record 1, images: The field must be a list of file names."),
    ("a number twice", json_lines(LINE | {"images": [*NAMES[:9], "img02.jpg"]}), "Record 1, images: Two of its images"),
    ("an unknown kind", json_lines(LINE | {"kind": "film"}), "Record 1, kind: 'film' is unknown; it must be one of"),
    ("a number for a split", json_lines(LINE | {"split": 3}), "Record 1, split: The field must be a text, not a"),
    ("a broken line", json_lines(LINE) + b"{", "Record 2: The line is not JSON"),
]


@pytest.mark.parametrize(("content", "sentence"), [bad[1:] for bad in MALFORMED], ids=[bad[0] for bad in MALFORMED])
def test_what_is_malformed_is_named(content: Any, sentence: str) -> None:
    problems = [item for item in items_of(content) if isinstance(item, RowProblem)]
    assert [str(problem)[: len(sentence)] for problem in problems] == [sentence]


def real_items(path: Path) -> list[Record | Note]:
    with path.open("rb") as file:
        return [item for item in read(file) if not isinstance(item, RowProblem)]


@needs_real_data
@pytest.mark.parametrize(
    ("name", "sets", "descriptions", "static"), [("train", 7317, 16594, 1281), ("valid", 1039, 2302, 155)]
)
def test_the_real_files_have_the_published_numbers_of_sets(
    name: str, sets: int, descriptions: int, static: int
) -> None:
    records = [item for item in real_items(IMAGECODE / f"{name}_data.json") if isinstance(item, Record)]
    assert Counter(record.type for record in records) == {"static": static, "video": sets - static}
    assert sum(len(record.captions) for record in records) == descriptions
    assert {record.split for record in records} == {name}


@needs_real_data
def test_the_real_companions_have_the_published_numbers() -> None:
    authors, found = (
        [about for note in real_items(IMAGECODE / name) if isinstance(note, Note) for about in note.about.values()]
        for name in ("annotator_split_valid.json", "manual_annotation_valid.yaml")
    )
    assert Counter(about["author"] for about in authors) == {"unseen_worker": 1800, "train_worker": 502}
    assert Counter(tag for about in found for tag in about["tags"]) == PHENOMENA
    looked_for = Counter(code for about in found for code in about["looked_for"])
    assert (looked_for["con"], looked_for["t"]) == (1002, 200)


@needs_real_data
def test_the_25_real_sets_are_all_read() -> None:
    records = [item for item in real_items(REAL_DATA / "images/sets_of_10.jsonl") if isinstance(item, Record)]
    counted = Counter(f"{record.type} {record.subtype}" for record in records)
    assert counted == {"video ": 13, "static ": 5, "static burst": 5, "static multiview": 2}

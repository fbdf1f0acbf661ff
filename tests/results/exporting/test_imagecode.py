import io
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from results.exporting import get_writer
from results.exporting.formats.imagecode import directory_of
from results.exporting.rows import DescribedImage
from studies.descriptions import descriptions_of
from studies.importing import Record, get_importer
from studies.importing.base import Note
from tests.studies.real_data import REAL_DATA, needs_real_data

DEER, CUPS = "open-images-deer", "MSR-VTT-cups"


def no_image(sha256: str) -> bytes:
    raise AssertionError(sha256)


def written(folder: Path, rows: Sequence[DescribedImage]) -> dict[str, str]:
    with get_writer("imagecode").open(folder, no_image) as write:
        for row in rows:
            write(row)
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}


def pairs(text: str) -> list[Any]:
    """Return a JSON object as its entries, so that their order counts."""
    return list(json.loads(text, object_pairs_hook=lambda entries: entries))


def test_labelled_descriptions_are_keyed_by_set_and_index_in_their_order(tmp_path: Path) -> None:
    rows = [
        DescribedImage(DEER, "train", 1, 'A "deer" … ', 7),
        DescribedImage(DEER, "train", 2, "T", 3),
        DescribedImage(CUPS, "train", 1, "T", 0),
    ]
    files = written(tmp_path / "out", rows)
    assert set(files) == {"train_data.json", "train_simple.json"}
    assert files["train_data.json"] == (
        '{\n  "open-images-deer": {\n    "7": "A \\"deer\\" \\u2026 ",\n    "3": "T"\n  },\n'
        '  "MSR-VTT-cups": {\n    "0": "T"\n  }\n}'
    )


def test_descriptions_that_keep_their_images_to_themselves_are_lists(tmp_path: Path) -> None:
    rows = [DescribedImage(DEER, "test", number, text, None) for number, text in enumerate("aba", start=1)]
    files = written(tmp_path / "out", rows)
    assert list(files) == ["test_data_unlabeled.json"]
    assert pairs(files["test_data_unlabeled.json"]) == [(DEER, ["a", "b", "a"])]


def test_each_split_has_files_of_its_own_whatever_it_is_called(tmp_path: Path) -> None:
    splits = {"a": "train", "b": "../va l", "c": "", "d": "train"}
    files = written(tmp_path / "out", [DescribedImage(key, split, 1, key, 1) for key, split in splits.items()])
    assert {name for name in files if "data" in name} == {"train_data.json", "___va_l_data.json", "data.json"}
    assert pairs(files["train_data.json"]) == [("a", [("1", "a")]), ("d", [("1", "d")])]


def test_who_wrote_what_is_written_where_it_is_known(tmp_path: Path) -> None:
    rows = [
        DescribedImage(DEER, "valid", 1, "a", 5, "unseen_worker"),
        DescribedImage(DEER, "valid", 2, "b", 3, "train_worker"),
        DescribedImage(CUPS, "valid", 1, "c", 0),
    ]
    files = written(tmp_path / "out", rows)
    split = files["annotator_split_valid.json"]
    assert pairs(split) == [(DEER, [("5", "unseen_worker"), ("3", "train_worker")])]


def test_of_several_descriptions_of_an_image_the_first_has_its_place_and_the_others_a_file(tmp_path: Path) -> None:
    rows = [
        DescribedImage(DEER, "test", 1, "Imported.", 5, "train_worker"),
        DescribedImage(DEER, "test", 2, "Another.", 3),
        DescribedImage(DEER, "test", 3, "Written.", 5, "unseen_worker"),
        DescribedImage(DEER, "test", 4, "Written too.", 5),
    ]
    files = written(tmp_path / "out", rows)
    assert pairs(files["test_data.json"]) == [(DEER, [("5", "Imported."), ("3", "Another.")])]
    assert pairs(files["test_further.json"]) == [(DEER, [("5", ["Written.", "Written too."])])]
    assert pairs(files["annotator_split_test.json"]) == [(DEER, [("5", "train_worker")])]
    assert pairs(files["test_data_unlabeled.json"]) == [(DEER, ["Imported.", "Another.", "Written.", "Written too."])]
    simple = [(pair["pos_idx"], pair["caption"]) for pair in json.loads(files["test_simple.json"])]
    assert simple == [(5, "Imported."), (3, "Another."), (5, "Written."), (5, "Written too.")]


def partners(folder: Path, size: int) -> list[list[int]]:
    """Return the places of the other images that stand in pairs with each image of sets of that size."""
    found: list[set[int]] = [set() for _ in range(size)]
    for number in range(20):
        rows = [DescribedImage(f"{number}", "valid", 1, "T", target, set_size=size) for target in range(size)]
        for pair in json.loads(written(folder / str(number), rows)["valid_simple.json"]):
            found[pair["pos_idx"]].add(pair["neg_idx"])
    return [sorted(each) for each in found]


def test_the_other_image_of_a_pair_stands_two_places_off_in_sets_of_any_size(tmp_path: Path) -> None:
    assert partners(tmp_path / "four", 4) == [[2], [3], [0], [1]]
    middle = [[at - 2, at + 2] for at in range(2, 10)]
    assert partners(tmp_path / "twelve", 12) == [[2], [3], *middle, [8], [9]]
    # Where no place is two off, the neighbours; alone, nothing.
    assert partners(tmp_path / "three", 3) == [[2], [0, 2], [0]]
    assert partners(tmp_path / "two", 2) == [[1], [0]]
    (alone,) = written(tmp_path / "one", [DescribedImage(DEER, "valid", 1, "T", 0, set_size=1)])
    assert alone == "valid_data.json"


def test_phenomena_leave_with_what_was_looked_for(tmp_path: Path) -> None:
    rows = [
        DescribedImage(DEER, "valid", 1, 'A "deer":\n\u2028it', 5, tags=("con", "s"), looked_for=("con", "neg", "s")),
        DescribedImage(DEER, "valid", 2, "b", 3, looked_for=("con",)),
        DescribedImage(CUPS, "valid", 1, "c", 0),
    ]
    text = written(tmp_path / "out", rows)["manual_annotation_valid.yaml"]
    assert yaml.safe_load(text) == {
        DEER: {
            "5": {"description": 'A "deer":\n\u2028it', "annotation": "con,s", "looked_for": "con,neg,s"},
            "3": {"description": "b", "annotation": "", "looked_for": "con"},
        }
    }
    (note,) = get_importer("imagecode")(io.BytesIO(text.encode()))
    assert isinstance(note, Note)
    assert note.about["5"] == {"tags": ["con", "s"], "looked_for": ["con", "neg", "s"]}
    assert text.startswith(f'"{DEER}":\n  "5":\n    "description": "A \\"deer\\":')


@needs_real_data
def test_the_real_phenomena_are_the_same_when_they_come_back(tmp_path: Path) -> None:
    def notes(file: Path) -> dict[str, Any]:
        with file.open("rb") as stream:
            return {item.key: item.about for item in get_importer("imagecode")(stream) if isinstance(item, Note)}

    found = notes(REAL_DATA / "imagecode" / "manual_annotation_valid.yaml")
    rows = [
        DescribedImage(key, "valid", number, "T", int(target), "", about["tags"], about["looked_for"])
        for key, of_set in found.items()
        for number, (target, about) in enumerate(of_set.items(), start=1)
    ]
    assert len(rows) == 1002
    # Two of the published descriptions are gone from the published split, so that counting them would go wrong.
    left = [row for row in rows if row.key != next(iter(found))]
    assert len(left) < len(rows)
    written(tmp_path / "out", left)
    again = notes(tmp_path / "out" / "manual_annotation_valid.yaml")
    assert again == {key: of_set for key, of_set in found.items() if key != next(iter(found))}


def test_a_pair_that_was_published_is_written_as_it_was_published(tmp_path: Path) -> None:
    # The first entry of the released valid_simple.json, as the README of McGill-NLP/imagecode prints it.
    key, text = "open-images-1815_f91d6f546e63f20d", "A deer head is mounted horizontally next to a painting"
    sides = []
    for paired in (3, 7):
        row = DescribedImage(key, "valid", 1, text, 5, type="static", paired=paired)
        sides.append(written(tmp_path / str(paired), [row])["valid_simple.json"])
    assert sides[0] == (
        '[\n    {\n        "directory": "open-images-1815_f91d6f546e63f20d",\n        "pos_idx": 5,\n'
        '        "neg_idx": 3,\n        "caption": "A deer head is mounted horizontally next to a painting"\n    }\n]'
    )
    assert json.loads(sides[1])[0]["neg_idx"] == 7


def test_a_release_that_an_older_version_froze_keeps_its_bytes(tmp_path: Path) -> None:
    files = written(tmp_path / "out", [DescribedImage("cups", "valid", 1, "T", 0)])
    assert set(files) == {"valid_data.json", "valid_simple.json"}
    assert files["valid_simple.json"] == (
        '[\n  {\n    "directory": "cups",\n    "pos_idx": 0,\n    "neg_idx": 2,\n    "caption": "T"\n  }\n]'
    )


@pytest.mark.parametrize(
    ("key", "type", "directory"),
    [
        ("open-images-7_a", "static", "open-images-7_a"),
        ("static-open-images-0a1b", "static", "static-open-images-0a1b"),
        ("cups", "static", "static-open-images--cups"),
        ("static-open-images--cups", "static", "static-open-images--static-open-images--cups"),
        ("cups", "", "static-open-images--cups"),
        ("MSR-VTT-a", "video", "MSR-VTT-a"),
        ("video-open-images-7", "video", "video-open--images-7"),
        ("video-open--images-7", "video", "video-open---images-7"),
        ("cups", None, "cups"),
    ],
)
def test_the_name_of_a_directory_tells_static_from_video_as_the_scripts_of_the_paper_read_it(
    key: str, type: str | None, directory: str
) -> None:
    assert directory_of(key, type) == directory


def test_no_two_sets_leave_under_one_name_and_each_is_read_as_what_it_is() -> None:
    parts = ("open", "images", "-", "--", "static-open-images--", "a")
    keys = sorted({"".join(some) for n in range(1, 6) for some in product(parts, repeat=n)})
    # A key is that of one set: here every other one is a video, so that neither name is far from the other's.
    types = ["video" if number % 2 else "static" for number, _ in enumerate(keys)]
    names = [directory_of(key, type) for key, type in zip(keys, types, strict=True)]
    assert len(keys) > 3000
    assert len(set(names)) == len(names)
    # `'open-images' in img_dir` of baselines/clip/dataset.py in McGill-NLP/imagecode.
    assert ["open-images" in name for name in names] == [type == "static" for type in types]
    for type in ("static", "video"):
        assert len({directory_of(key, type) for key in keys}) == len(keys)


def test_sets_under_another_name_are_listed_with_their_keys(tmp_path: Path) -> None:
    rows = [
        DescribedImage("cups", "valid", 1, "a", 5, "unseen_worker", type="static"),
        DescribedImage("cups", "valid", 2, "b", 5, type="static"),
        DescribedImage(DEER, "valid", 1, "c", 1, type="static"),
    ]
    files = written(tmp_path / "out", rows)
    named = "static-open-images--cups"
    assert pairs(files["directories.json"]) == [(named, "cups")]
    assert pairs(files["valid_data.json"]) == [(named, [("5", "a")]), (DEER, [("1", "c")])]
    assert pairs(files["valid_further.json"]) == [(named, [("5", ["b"])])]
    assert pairs(files["annotator_split_valid.json"]) == [(named, [("5", "unseen_worker")])]
    assert [pair["directory"] for pair in json.loads(files["valid_simple.json"])] == [named, named, DEER]


def test_a_pair_is_the_image_and_the_second_next_of_the_same_set(tmp_path: Path) -> None:
    rows = [DescribedImage(DEER, "valid", 1 + target, f"Text {target}. ", target) for target in range(10)]
    found = json.loads(written(tmp_path / "out", rows)["valid_simple.json"])
    assert [(pair["directory"], pair["pos_idx"], pair["caption"]) for pair in found] == [
        (DEER, target, f"Text {target}. ") for target in range(10)
    ]
    assert {abs(pair["pos_idx"] - pair["neg_idx"]) for pair in found} == {2}
    assert {pair["neg_idx"] for pair in found} <= set(range(10))
    assert [found[target]["neg_idx"] for target in (0, 1, 8, 9)] == [2, 3, 6, 7]


def test_without_descriptions_there_is_a_file_that_says_so(tmp_path: Path) -> None:
    assert {name: json.loads(text) for name, text in written(tmp_path / "out", []).items()} == {"data.json": {}}


@needs_real_data
def test_the_real_training_split_is_written_byte_for_byte_as_it_was_read(tmp_path: Path) -> None:
    file = REAL_DATA / "imagecode" / "train_data.json"
    with file.open("rb") as stream:
        records = [item for item in get_importer("imagecode")(stream) if isinstance(item, Record)]
    rows = [
        DescribedImage(record.key, record.split, each.number, each.text, each.target)
        for record in records
        for each in descriptions_of(record.captions, record.reference)
    ]
    assert len(rows) == 16594
    assert written(tmp_path / "out", rows)["train_data.json"].encode() == file.read_bytes()

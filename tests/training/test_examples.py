"""Examples are read from releases, and from files in any order."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from training.errors import CannotTrain
from training.examples import Example, ExampleFile, digest_of, read_examples, read_release, write_examples

ROW = {
    **{
        "image": "1.jpg",
        "negative_image": "1n.jpg",
        "caption": "A dog on a cat.",
        "negative_caption": "A cat on a dog.",
    },
    **{"type": "swap", "subtype": "obj"},
}
PAIR = Example("0", ("1.jpg", "1n.jpg"), ("A dog on a cat.", "A cat on a dog."), None, "swap", "obj")


def write_parquet(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = {"bytes": b"pixels", "path": None}
    rows = [ROW | {"image": image, "negative_image": image}] * 2
    parquet.write_table(pa.Table.from_pylist(rows), path)


def test_a_list_of_pairs(tmp_path: Path) -> None:
    (tmp_path / "bivlc.jsonl").write_text(json.dumps(ROW) + "\n")
    assert list(read_release(tmp_path)) == [PAIR]


def test_a_dataset_of_the_hub_names_the_cells_of_its_images(tmp_path: Path) -> None:
    for split in ("train", "test"):
        write_parquet(tmp_path / "data" / f"{split}-00000-of-00001.parquet")
    (first, second) = read_release(tmp_path, split="train")
    file = "data/train-00000-of-00001.parquet"
    assert first.images == (f"{file}#cell=0,image", f"{file}#cell=0,negative_image")
    assert second.images[0] == f"{file}#cell=1,image"
    assert (second.captions, second.type) == (PAIR.captions, "swap")
    assert len(list(read_release(tmp_path))) == 4


def test_a_dataset_that_names_the_files_of_its_images(tmp_path: Path) -> None:
    """As TROHN-Text on the Hub."""
    texts = {name: ROW[name] for name in ("caption", "negative_caption")}
    (tmp_path / "data").mkdir()
    rows = [{"image_id": "000000391895.jpg", **texts}, {"image_id": None, **texts}]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "data" / "train-00000-of-00001.parquet")
    found = read_release(tmp_path)
    first = next(found)
    assert (first.images, first.captions) == (("000000391895.jpg",), PAIR.captions)
    with pytest.raises(CannotTrain, match=r"train-00000-of-00001\.parquet: Record 2 has no image\."):
        next(found)


def test_descriptions_of_image_sets(tmp_path: Path) -> None:
    sets = {"MSR-VTT-b": {"0": "He looks up. "}, "open-images-1_a": {"5": "A deer.", "7": "An owl."}}
    (tmp_path / "train_data.json").write_text(json.dumps(sets))
    (tmp_path / "valid_data.json").write_text(json.dumps({"open-images-2": {"1": "A tree."}}))
    looks, deer, owl = read_release(tmp_path, split="train")
    assert (looks.captions, looks.target, looks.ordered) == (("He looks up.",), 0, True)
    assert (deer.instance, deer.captions, deer.target, deer.ordered) == ("open-images-1_a", ("A deer.",), 5, False)
    assert (owl.target, len(owl.images)) == (7, 10)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("notes.txt", "", r"has no instances of the split 'train'\. Put bivlc\.jsonl"),
        ("bivlc.jsonl", json.dumps(ROW | {"caption": None}), r"bivlc\.jsonl: Record 1.*caption"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(CannotTrain, match=sentence):
        list(read_release(tmp_path, split="train"))


def test_a_file_of_examples_is_read_in_any_order(tmp_path: Path) -> None:
    many = [Example(f"é {number}", ("a",), ("b\nc", "d"), number, ordered=True) for number in range(50)]
    assert write_examples(many, tmp_path / "examples.jsonl") == 50
    assert list(read_examples(tmp_path / "examples.jsonl")) == many
    file = ExampleFile(tmp_path / "examples.jsonl")
    assert (len(file), file[49], file[-50], file[3:5]) == (50, many[49], many[0], many[3:5])
    assert digest_of(file) == digest_of(many)
    with pytest.raises(IndexError):
        file[50]


def test_a_damaged_file_of_examples(tmp_path: Path) -> None:
    (tmp_path / "examples.jsonl").write_text('{"instance": "1"}\n')
    with pytest.raises(CannotTrain, match=r"examples\.jsonl has a line that is no example"):
        list(read_examples(tmp_path / "examples.jsonl"))

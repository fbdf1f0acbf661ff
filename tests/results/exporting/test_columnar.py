"""What is written for data libraries is opened with those libraries."""

import hashlib
import io
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import PIL.Image
import pyarrow.parquet as pq
import pytest

from results.exporting import columnar, get_writer, shards
from results.exporting.rows import INSTANCE_COLUMNS, AcceptedInstance, ExportedImage
from tests.results.exporting.test_formats import INSTANCE, SHA_A, SHA_B, SHA_C

# Those of the released BiVLC, and what tells the rows apart.
COLUMNS = [
    *("image", "caption", "negative_caption", "negative_image", "type", "subtype"),
    *("key", "simulated", "item", "captions", "other_images", "pair_roles", "target", "fields"),
    *("soft_labels", "posterior", "posterior_method", "difficulty"),
]


def png(shade: int) -> bytes:
    out = io.BytesIO()
    PIL.Image.new("RGB", (8, 6), (shade, 0, 0)).save(out, "PNG")
    return out.getvalue()


PICTURES = {SHA_A: png(10), SHA_B: png(20), SHA_C: png(30)}


def numbered(number: int, **fields: Any) -> AcceptedInstance:
    return replace(INSTANCE, key=str(number), **fields)


def write(format: str, path: Path, rows: Iterator[AcceptedInstance] | list[AcceptedInstance]) -> Path:
    with get_writer(format).open(path, PICTURES.__getitem__) as add:
        for row in rows:
            add(row)
    return path


def digests(path: Path) -> dict[str, str]:
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    return {
        file.name if file == path else str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }


def load(folder: Path, cache: Path) -> Any:
    import datasets

    return datasets.load_dataset(str(folder), cache_dir=str(cache))


def test_pandas_reads_the_parquet_file_with_its_columns(tmp_path: Path) -> None:
    frame = pd.read_parquet(write("parquet", tmp_path / "i.parquet", [INSTANCE, numbered(18)]))
    assert list(frame.columns) == list(INSTANCE_COLUMNS)
    first = frame.iloc[0]
    assert (first["key"], first["image"], first["negative_image_sha256"]) == ("17", "000000000017.jpg", SHA_B)
    assert first["negative_caption"] == "=A cat chases a dog."
    assert (str(frame["answers"].dtype), frame["source_row"].sum()) == ("int32", 36)
    assert list(first["votes"]) == [{"option": "candidate-2", "answers": 1}]
    assert [picture["filename"] for picture in first["images"]] == ["17_2.jpg", "17_0.jpg", "000000000017.jpg"]
    assert first["images"][2]["licence"] == "CC BY 4.0"


def test_an_awaited_image_is_null_in_parquet(tmp_path: Path) -> None:
    waiting = numbered(1, images=[ExportedImage("image", 0, "later.jpg", None)])
    (picture,) = pd.read_parquet(write("parquet", tmp_path / "i.parquet", [waiting])).iloc[0]["images"]
    assert (picture["filename"], picture["sha256"], picture["width"]) == ("later.jpg", None, None)


def test_datasets_loads_the_folder_in_the_columns_of_bivlc_with_images_byte_for_byte(tmp_path: Path) -> None:
    import datasets

    folder = write("hf", tmp_path / "hf", [INSTANCE])
    loaded = load(folder, tmp_path / "cache")
    assert list(loaded) == ["test"]
    assert loaded["test"].column_names == COLUMNS
    assert isinstance(loaded["test"].features["image"], datasets.Image)
    row = loaded["test"][0]
    assert (row["image"].getpixel((0, 0)), row["negative_image"].getpixel((0, 0))) == ((10, 0, 0), (20, 0, 0))
    assert (row["key"], row["simulated"]) == ("17", True)
    assert (row["caption"], row["type"], row["subtype"]) == ("A dog\nchases “a cat”.", "swap", "obj")
    (stored,) = pq.read_table(folder / "data" / "test-00000-of-00001.parquet").to_pylist()
    assert stored["image"] == {"bytes": PICTURES[SHA_A], "path": "000000000017.jpg"}
    assert stored["negative_image"] == {"bytes": PICTURES[SHA_B], "path": "17_2.jpg"}


def test_each_split_has_files_of_its_own(tmp_path: Path) -> None:
    rows = [numbered(number, split=split) for number, split in enumerate(["val", "", "val", "test-hard"])]
    loaded = load(write("hf", tmp_path / "hf", rows), tmp_path / "cache")
    assert {name: len(split) for name, split in loaded.items()} == {"val": 2, "test": 1, "test_hard": 1}


def test_what_an_instance_lacks_is_null(tmp_path: Path) -> None:
    bare = numbered(1, images=[ExportedImage("image", 0, "later.jpg", None)], captions={"caption": "A cat."})
    row = load(write("hf", tmp_path / "hf", [bare]), tmp_path / "cache")["test"][0]
    assert (row["image"], row["negative_image"], row["negative_caption"]) == (None, None, None)


def test_an_instance_asked_about_in_several_questions_stands_in_the_folder_once(tmp_path: Path) -> None:
    folder = write("hf", tmp_path / "hf", [INSTANCE, replace(INSTANCE, kind="text_to_image"), numbered(18)])
    assert pq.read_table(folder / "data").num_rows == 2


def test_captions_of_other_roles_are_in_the_folder_and_the_parquet_file(tmp_path: Path) -> None:
    row = numbered(1, captions={"wrong_caption": "A map.", "caption": "A cat."})
    write("hf", tmp_path / "hf", [row])
    (record,) = load(tmp_path / "hf", tmp_path / "cache")["test"]
    assert record["captions"] == '{"caption": "A cat.", "wrong_caption": "A map."}'
    kept = pd.read_parquet(write("parquet", tmp_path / "i.parquet", [row])).iloc[0]["captions"]
    assert list(kept) == [{"role": "caption", "text": "A cat."}, {"role": "wrong_caption", "text": "A map."}]


def test_nothing_accepted_makes_a_file_without_rows_in_the_same_columns(tmp_path: Path) -> None:
    folder = write("hf", tmp_path / "hf", [])
    table = pq.read_table(folder / "data" / "test-00000-of-00001.parquet")
    assert (table.num_rows, table.column_names) == (0, COLUMNS)


def test_a_large_split_is_cut_into_shards_that_are_numbered_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columnar, "ROWS_PER_GROUP", 2)
    monkeypatch.setattr(shards, "BYTES_PER_SHARD", len(PICTURES[SHA_A]) * 4)
    folder = write("hf", tmp_path / "hf", [numbered(number, subtype=str(number)) for number in range(5)])
    names = [f"test-0000{number}-of-00003.parquet" for number in range(3)]
    assert sorted(path.name for path in (folder / "data").iterdir()) == names
    subtypes = [row["subtype"] for name in names for row in pq.read_table(folder / "data" / name).to_pylist()]
    assert subtypes == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("format", ["parquet", "hf"])
def test_the_same_rows_make_the_same_bytes(format: str, tmp_path: Path) -> None:
    rows = [numbered(number) for number in range(250)]
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        made.append(digests(write(format, tmp_path / name / "made", rows)))
    assert made[0] == made[1]
    assert len(made[0]) == 1


@pytest.mark.parametrize(("rows", "groups"), [(100, 1), (101, 2), (250, 3)])
def test_rows_are_written_in_groups_of_a_hundred(rows: int, groups: int, tmp_path: Path) -> None:
    path = write("parquet", tmp_path / "i", [numbered(number) for number in range(rows)])
    assert pq.ParquetFile(path).num_row_groups == groups


MEASURE_MEMORY = """
import hashlib, random, resource, sys
from pathlib import Path
from results.exporting import get_writer
from results.exporting.rows import ExportedImage
from tests.results.exporting.test_columnar import numbered

noise = random.Random(7).randbytes(200_000)

def read_image(sha256):
    return sha256.encode() + noise

with get_writer("hf").open(Path(sys.argv[1]), read_image) as write:
    for number in range(int(sys.argv[2])):
        names = [f"{number:032d}{role:>32}" for role in ("image", "negative_image")]
        write(numbered(number, images=[ExportedImage(n[32:].strip(), 0, n, n) for n in names]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def memory_mb(folder: Path, instances: int) -> int:
    command = [sys.executable, "-c", MEASURE_MEMORY, str(folder), str(instances)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_memory_stays_flat_whatever_the_number_of_images(tmp_path: Path) -> None:
    few, many = memory_mb(tmp_path / "few", 250), memory_mb(tmp_path / "many", 1000)
    assert many < few + 60
    written = sum(path.stat().st_size for path in (tmp_path / "many" / "data").iterdir())
    assert written > 400_000_000

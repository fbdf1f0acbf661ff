"""The folders of CLIP_benchmark, without it: `make test-models` loads them where it is installed."""

import json
import tarfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image

from results.exporting import get_writer
from results.exporting.formats import clip_benchmark
from tests.results.exporting.test_columnar import PICTURES, digests
from tests.results.exporting.test_formats import INSTANCE, SHA_A, SHA_B

OWN, OTHER = "A dog chases “a cat”.", "=A cat chases a dog."


def folder_of(tmp_path: Path) -> Path:
    with get_writer("clip-benchmark").open(tmp_path / "made", PICTURES.__getitem__) as add:
        add(INSTANCE)
        add(INSTANCE)
    return tmp_path / "made"


def members(tar: Path) -> dict[str, bytes]:
    with tarfile.open(tar) as packed:
        return {each.name: file.read() for each in packed if (file := packed.extractfile(each))}


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("retrieval", OWN, OTHER), ("selection", f"{OWN}\n{OTHER}", f"{OTHER}\n{OWN}")],
)
def test_a_dataset_has_its_type_its_number_of_files_and_a_caption_a_line(
    name: str, first: str, second: str, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path) / name
    assert (folder / "dataset_type.txt").read_text(encoding="utf-8") == "retrieval\n"
    assert (folder / "test" / "nshards.txt").read_text(encoding="utf-8") == "1\n"
    found = members(folder / "test" / "0.tar")
    assert [json.loads(found.pop(f"{n:08d}.json"))["role"] for n in (0, 1)] == ["image", "negative_image"]
    assert found == {
        "00000000.png": PICTURES[SHA_A],
        "00000000.txt": first.encode(),
        "00000001.png": PICTURES[SHA_B],
        "00000001.txt": second.encode(),
    }


def test_a_pair_has_both_pictures_and_both_captions_where_the_reader_of_such_looks_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loaded as CLIP_benchmark's reader of Winoground does, by a name that is a folder below the one it is begun in."""
    datasets = pytest.importorskip("datasets")
    monkeypatch.chdir(folder_of(tmp_path) / "pairs")
    (pair,) = datasets.load_dataset("facebook/winoground", cache_dir=str(tmp_path / "cache"))["test"]
    assert (pair["caption_0"], pair["caption_1"], pair["key"]) == (OWN, OTHER, INSTANCE.key)
    for name, sha256 in (("image_0", SHA_A), ("image_1", SHA_B)):
        with Image.open(BytesIO(PICTURES[sha256])) as picture:
            assert pair[name].tobytes() == picture.convert(pair[name].mode).tobytes()


def test_an_instance_with_one_picture_is_no_pair(tmp_path: Path) -> None:
    single = replace(INSTANCE, images=[image for image in INSTANCE.images if image.role == "image"])
    with get_writer("clip-benchmark").open(tmp_path / "made", PICTURES.__getitem__) as add:
        add(single)
    (file,) = (tmp_path / "made" / "pairs").rglob("*.parquet")
    assert pq.read_metadata(file).num_rows == 0


def test_a_large_release_is_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clip_benchmark, "BYTES_PER_SHARD", 1)
    folder = folder_of(tmp_path) / "selection" / "test"
    assert sorted(path.name for path in folder.iterdir()) == ["0.tar", "1.tar", "nshards.txt"]
    assert (folder / "nshards.txt").read_text(encoding="utf-8") == "2\n"
    assert "00000001.txt" in members(folder / "1.tar")


def test_it_is_the_same_bytes_when_made_again(tmp_path: Path) -> None:
    assert digests(folder_of(tmp_path / "one")) == digests(folder_of(tmp_path / "two"))

"""Which pictures are near to which, by hand, and known test sets."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from predictions.image_sets.embeddings import ColourAndGradient, distances
from predictions.image_sets.known_test_sets import KnownSet, UnusableSet, known_sets
from predictions.image_sets.near_duplicates import NEAR_BELOW, nearest_below
from tests.predictions.near import at, drawn, saved

REAL = Path(__file__).resolve().parents[4] / "shared/data/images"
EMBEDDING = ColourAndGradient()


def test_the_nearest_of_all_blocks_are_found_nearest_first_and_no_picture_itself() -> None:
    # cos 60 = .5, cos 30 = .866, cos 45 = .707
    blocks = [(["a", "b"], at(0, 60)), (["c", "d"], at(30, 45))]
    found = nearest_below(["a", "x"], at(0, 180), blocks, below=0.4, most=5)
    assert list(found) == ["a"]
    assert [name for _, name in found["a"]] == ["c", "d"]
    assert [distance for distance, _ in found["a"]] == pytest.approx([0.134, 0.293], abs=1e-3)


def test_no_more_than_so_many_are_kept_whichever_block_they_stand_in() -> None:
    blocks = [(["far", "a", "middle"], at(40, 0, 20)), (["near"], at(10))]
    found = nearest_below(["a"], at(0), blocks, below=2, most=2)
    assert [name for _, name in found["a"]] == ["near", "middle"]
    # Exactly so far apart is not near.
    assert nearest_below(["a"], at(0), [(["b"], at(90))], below=1.0, most=1) == {}


@pytest.mark.skipif(not REAL.is_dir(), reason="the real photos are not there")
def test_of_the_real_photos_those_that_are_there_twice_are_found_and_no_others() -> None:
    """Which ones was seen by looking at them: each was saved again under another name."""
    twice = {"0241": "0312", "0247": "0313", "0253": "0310", "0264": "0306", "0270": "0303", "0271": "0301"}
    twice |= {"0273": "0330", "0291": "0294"}
    files = sorted((REAL / "photos").iterdir())
    pictures = []
    for file in files:
        with Image.open(file) as picture:
            pictures.append(picture.convert("RGB"))
    vectors, names = EMBEDDING.embed(pictures), [file.name[:4] for file in files]
    found = nearest_below(names, vectors, [(names, vectors)], below=NEAR_BELOW, most=5)
    assert {name: [other for _, other in near] for name, near in found.items() if name in twice} == {
        one: [other] for one, other in twice.items()
    }
    assert len(found) == 2 * len(twice)


def sets_of(folder: Path, kept: Path) -> list[KnownSet]:
    return list(known_sets(folder, kept, embedding=EMBEDDING, progress=lambda: None))


def test_a_folder_of_pictures_is_a_known_set_and_is_embedded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sets/coco/more").mkdir(parents=True)
    (tmp_path / "sets/coco/2.jpg").write_bytes(saved(2))
    (tmp_path / "sets/coco/more/1.jpg").write_bytes(saved(1))
    (tmp_path / "sets/coco/broken.jpg").write_bytes(b"no picture")
    (one,) = sets_of(tmp_path / "sets", tmp_path / "kept")
    assert (one.name, one.pictures) == ("coco", ["2.jpg", "broken.jpg", "more/1.jpg"])
    apart = distances(EMBEDDING.embed([drawn(2), drawn(1)]), one.vectors)
    assert apart.argmin(axis=1).tolist() == [0, 2]
    # What cannot be read is far from everything.
    assert apart[:, 1].tolist() == [1, 1]
    monkeypatch.setattr(ColourAndGradient, "embed", None)
    (again,) = sets_of(tmp_path / "sets", tmp_path / "kept")
    assert np.array_equal(again.vectors, one.vectors)


def test_a_picture_of_a_known_set_that_changes_under_its_name_is_embedded_again(tmp_path: Path) -> None:
    folder, kept = tmp_path / "sets", tmp_path / "kept"
    (folder / "coco").mkdir(parents=True)
    for name, content in (("1.jpg", saved(1)), ("2.jpg", b"no picture"), ("3.jpg", saved(3))):
        (folder / "coco" / name).write_bytes(content)
    sets_of(folder, kept)
    # A link leads nowhere. One is another picture now, and one can be read now.
    (folder / "coco/1.jpg").write_bytes(saved(4))
    (folder / "coco/4.jpg").symlink_to("nowhere.jpg")
    (folder / "coco/2.jpg").write_bytes(saved(2))
    for _ in range(2):
        (one,) = sets_of(folder, kept)
        apart = distances(EMBEDDING.embed([drawn(4), drawn(2), drawn(3)]), one.vectors)
        assert apart.argmin(axis=1).tolist() == [0, 1, 2]
        assert apart.min(axis=1).max() < 0.02


def test_a_file_of_vectors_is_a_known_set(tmp_path: Path) -> None:
    assert sets_of(tmp_path / "nowhere", tmp_path / "kept") == []
    vectors = EMBEDDING.embed([drawn(1)])
    np.savez(tmp_path / "hidden.npz", names=np.array(["1"]), vectors=vectors, embedding=np.array(EMBEDDING.name))
    (one,) = sets_of(tmp_path, tmp_path / "kept")
    assert (one.name, one.pictures, one.vectors.tolist()) == ("hidden", ["1"], vectors.tolist())


@pytest.mark.parametrize(
    ("arrays", "why"),
    [
        ({"names": ["1"], "vectors": np.zeros((1, 2))}, "not a file of vectors"),
        ({"names": ["1"], "vectors": np.zeros((1, 2)), "embedding": "other-v1"}, "has vectors of other-v1"),
        ({"names": ["1", "2"], "vectors": np.zeros((1, 2)), "embedding": EMBEDDING.name}, "2 names and vectors"),
        (None, "not a file of vectors"),
    ],
)
def test_a_file_that_is_none_is_said(arrays: dict[str, object] | None, why: str, tmp_path: Path) -> None:
    if arrays is None:
        (tmp_path / "bad.npz").write_bytes(b"nothing")
    else:
        np.savez(tmp_path / "bad.npz", **{name: np.asarray(value) for name, value in arrays.items()})  # type: ignore[arg-type]
    with pytest.raises(UnusableSet, match=why):
        sets_of(tmp_path, tmp_path / "kept")

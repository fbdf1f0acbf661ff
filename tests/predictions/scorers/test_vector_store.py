"""Vectors that outlive a worker: looked at once, whoever asks, and never those of another model."""

import logging
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from predictions.scorers import NoPicture
from predictions.scorers.batches import Vector
from predictions.scorers.contrastive import TRIED_TEXT
from predictions.scorers.vector_store import HOUR, MEGABYTE, CannotStoreVectors, VectorStore
from tests.predictions.by_colour import COLOURS, TEXTS, ByColour
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[3]
PAIRS = [(text, picture) for text in ("it is red", "it is red and green") for picture in COLOURS]
SPACE = b"of a model"
Keep = Callable[..., VectorStore]


class Eye(ByColour):
    """Keeps its vectors in `folder`."""

    def __init__(self, folder: VectorStore, weights: str = "w1", **how: Any) -> None:
        super().__init__(weights, **{"batch": 4} | how)
        self.keep_in(folder)

    def looked_at(self) -> tuple[int, int]:
        """Return how many pictures were opened, and how many texts read besides the one that is tried."""
        return self.opened.total(), self.read.total() - self.read[TRIED_TEXT]


@pytest.fixture
def kept() -> Iterator[Keep]:
    """Return what makes `VectorStore`, whose files are closed when the test ends."""
    with ExitStack() as opened:

        def make(folder: Path, **settings: Any) -> VectorStore:
            vectors = VectorStore(folder, **{"most": 8 * MEGABYTE} | settings)
            opened.callback(vectors.close)
            return vectors

        yield make


def numbered(names: Sequence[str], *, numbers: int = 4) -> dict[str, Vector]:
    return {name: np.full(numbers, len(name) + at, dtype=np.float32) for at, name in enumerate(names)}


def same(found: Mapping[str, Vector], expected: Mapping[str, Vector]) -> bool:
    return found.keys() == expected.keys() and all(np.array_equal(found[name], expected[name]) for name in found)


def test_a_second_worker_looks_at_nothing_anew_and_gives_the_same_scores(tmp_path: Path, kept: Keep) -> None:
    first = Eye(kept(tmp_path))
    scores = first.score(PAIRS, first.open)
    # Cosines with red, yellow and black, worked out by hand: 1, 1/sqrt(2), 0; 3/5, 7/(5 sqrt(2)), 0.
    assert scores == pytest.approx([1, 0.5**0.5, 0, 0.6, 1.4 * 0.5**0.5, 0], abs=1e-6)
    assert first.looked_at() == (3, 2)
    second = Eye(kept(tmp_path))
    assert second.score(PAIRS, second.open) == scores
    assert second.looked_at() == (0, 0)
    # Neither texts nor names can be read in the folder.
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert len(content) > 0
    assert not [text for text in (*TEXTS, *COLOURS) if text.encode() in content]


@pytest.mark.parametrize(
    ("changed", "looked_at"),
    [
        ({"weights": "w2"}, (3, 2)),
        ({"dtype": "float16"}, (3, 2)),
        ({"batch": 2}, (3, 2)),
        # What no name tells: another preprocessing, and other numbers made of the same weights.
        ({"cut": 1}, (3, 0)),
        ({"gain": 1.5}, (3, 0)),
    ],
)
def test_another_model_preprocessing_or_shape_of_batches_looks_for_itself(
    tmp_path: Path, kept: Keep, changed: dict[str, Any], looked_at: tuple[int, int]
) -> None:
    first = Eye(kept(tmp_path))
    first.score(PAIRS, first.open)
    other = Eye(kept(tmp_path), **changed)
    other.score(PAIRS, other.open)
    assert other.looked_at() == looked_at


def test_a_picture_that_cannot_be_had_is_asked_for_again(tmp_path: Path, kept: Keep) -> None:
    for _ in range(2):
        eye = Eye(kept(tmp_path))
        (gone,) = eye.score([("it is red", "nowhere")], eye.open)
        assert isinstance(gone, NoPicture)


KILLED = """
import sys, time
from pathlib import Path
import numpy as np
from predictions.scorers.vector_store import VectorStore, MEGABYTE

class Endless(dict):
    def items(self):
        for number in range(2000):
            yield f"lost {number}", np.ones(1024, dtype=np.float32)
        (folder / "reached").touch()
        time.sleep(600)

folder = Path(sys.argv[1])
vectors = VectorStore(folder, most=64 * MEGABYTE)
vectors.put(b"of a model", {"before": np.arange(4, dtype=np.float32)})
vectors.put(b"of a model", Endless())
"""


def test_a_worker_that_is_killed_while_it_writes_leaves_what_was_whole(tmp_path: Path, kept: Keep) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT)
    try:
        wait_until((tmp_path / "reached").exists, seconds=60, why=lambda: process.poll())
    finally:
        process.kill()
        process.wait()
    vectors = kept(tmp_path)
    assert same(vectors.get(SPACE, ["before", "lost 0", "lost 1999"]), {"before": np.arange(4, dtype=np.float32)})
    vectors.put(SPACE, numbered(["after"]))
    assert same(kept(tmp_path).get(SPACE, ["after"]), numbered(["after"]))


def test_two_workers_at_once_do_each_other_no_harm(tmp_path: Path, kept: Keep) -> None:
    names = [f"picture {number}" for number in range(200)]
    expected = numbered(names, numbers=64)
    wrong: list[str] = []

    def work() -> None:
        vectors = kept(tmp_path)
        for start in range(0, len(names), 10):
            some = names[start : start + 10]
            vectors.put(SPACE, {name: expected[name] for name in some})
            if not same(vectors.get(SPACE, some), {name: expected[name] for name in some}):
                wrong.append(some[0])
        vectors.close()

    threads = [Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert same(kept(tmp_path).get(SPACE, names), expected)


def test_a_damaged_vector_is_left_out_with_a_sentence_and_made_anew(
    tmp_path: Path, kept: Keep, caplog: pytest.LogCaptureFixture
) -> None:
    names = ["one", "two"]
    vectors = kept(tmp_path)
    vectors.put(SPACE, numbered(names))
    vectors.close()
    with sqlite3.connect(tmp_path / "vectors-1.sqlite3") as file:
        (row, content) = file.execute("SELECT rowid, vector FROM vectors").fetchone()
        file.execute("UPDATE vectors SET vector = ? WHERE rowid = ?", (content[:-1] + b"\x7f", row))
    file.close()
    with caplog.at_level(logging.WARNING):
        (left,) = vectors.get(SPACE, names)
    assert caplog.messages == [f"1 stored vectors in {tmp_path} are damaged and will be recomputed."]
    (lost,) = set(names) - {left}
    vectors.put(SPACE, {lost: numbered(names)[lost]})
    assert same(vectors.get(SPACE, names), numbered(names))


@pytest.mark.parametrize("is_open", [False, True])
def test_a_damaged_file_is_left_for_another_one(
    tmp_path: Path, kept: Keep, caplog: pytest.LogCaptureFixture, is_open: bool
) -> None:
    names = [f"picture {number}" for number in range(50)]
    vectors = kept(tmp_path)
    vectors.put(SPACE, numbered(names, numbers=1024))
    vectors.close()
    if is_open:
        assert len(vectors.get(SPACE, names[:1])) == 1
    file = tmp_path / "vectors-1.sqlite3"
    with file.open("r+b") as out:
        out.write(b"\xff" * file.stat().st_size)
    with caplog.at_level(logging.WARNING):
        assert vectors.get(SPACE, names) == {}
    assert f"The stored vectors in {tmp_path} are damaged" in caplog.messages[0]
    vectors.put(SPACE, numbered(names))
    assert same(kept(tmp_path).get(SPACE, names), numbered(names))
    assert [path.name for path in tmp_path.glob("*.sqlite3")] == ["vectors-2.sqlite3"]


def test_a_folder_that_goes_away_costs_no_score_and_one_that_cannot_be_made_is_told(tmp_path: Path, kept: Keep) -> None:
    folder = tmp_path / "vectors"
    eye = Eye(kept(folder))
    folder.rmdir()
    assert eye.score(PAIRS[:1], eye.open) == pytest.approx([1])
    folder.touch()
    with pytest.raises(CannotStoreVectors, match=r"Vectors cannot be stored in .*vectors/more"):
        kept(folder / "more")


def test_what_goes_wrong_without_damage_leaves_the_file_as_it_is(
    tmp_path: Path, kept: Keep, caplog: pytest.LogCaptureFixture
) -> None:
    """Locked by somebody for longer than anybody waits, here not at all."""
    vectors = kept(tmp_path)
    vectors.put(SPACE, numbered(["before"]))
    assert vectors._open is not None
    vectors._open.execute("PRAGMA busy_timeout = 0")
    other = sqlite3.connect(tmp_path / "vectors-1.sqlite3", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with caplog.at_level(logging.WARNING):
        vectors.put(SPACE, numbered(["lost"]))
    assert caplog.messages == [f"Cannot store or read vectors in {tmp_path} for now (database is locked)."]
    other.execute("ROLLBACK")
    other.close()
    vectors.put(SPACE, numbered(["after"]))
    assert vectors.get(SPACE, ["before", "lost", "after"]).keys() == {"before", "after"}
    assert [path.name for path in tmp_path.glob("*.sqlite3")] == ["vectors-1.sqlite3"]


def test_what_was_not_asked_for_longest_goes_first(tmp_path: Path, kept: Keep) -> None:
    """A vector of 1,024 numbers is 4,104 bytes, of which three stand on a page of 16,384: 180 fill 60 of the 64 pages
    of a MiB, and their names more than the other four."""
    hour = 0

    def now() -> float:
        return hour * HOUR

    vectors = kept(tmp_path, most=MEGABYTE, clock=now)
    old, newer, newest = ([f"{age} {number}" for number in range(60)] for age in ("old", "newer", "newest"))
    vectors.put(SPACE, numbered(old, numbers=1024))
    hour = 1
    vectors.put(SPACE, numbered(newer, numbers=1024))
    hour = 2
    # Asked for again, so that they are the last to go.
    assert len(vectors.get(SPACE, old)) == 60
    hour = 3
    vectors.put(SPACE, numbered(newest, numbers=1024))
    vectors.put(SPACE, numbered([f"more {number}" for number in range(60)], numbers=1024))
    assert len(vectors.get(SPACE, newer)) == 0
    assert len(vectors.get(SPACE, newest)) == 60
    assert 0 < len(vectors.get(SPACE, old)) < 60


def test_a_lower_bound_makes_the_file_smaller(tmp_path: Path, kept: Keep) -> None:
    names = [f"picture {number}" for number in range(600)]
    vectors = kept(tmp_path)
    vectors.put(SPACE, numbered(names, numbers=1024))
    vectors.close()
    file = tmp_path / "vectors-1.sqlite3"
    assert file.stat().st_size > 2 * MEGABYTE
    smaller = kept(tmp_path, most=MEGABYTE)
    smaller.put(SPACE, numbered(["one more"], numbers=1024))
    smaller.close()
    assert file.stat().st_size <= MEGABYTE

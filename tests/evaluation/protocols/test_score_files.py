from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from evaluation.protocols import BenchmarkError, Block
from evaluation.score_files import ScoreFile

BLOCKS = [Block(("a.jpg", "b.jpg"), ("A cat.", "A dog.")), Block(("b.jpg", "a.jpg"), ("A dog.", "A cat."))]
# Of a.jpg and b.jpg with the cat and the dog.
CAT_A, DOG_A, CAT_B, DOG_B = 0.5, 0.25, -1.0, 2.0
ROWS = [("a.jpg", "A cat.", CAT_A), ("a.jpg", "A dog.", DOG_A), ("b.jpg", "A cat.", CAT_B), ("b.jpg", "A dog.", DOG_B)]


def csv_file(folder: Path, rows: Any = ROWS, header: str = "score,image,text,note") -> Path:
    path = folder / "scores.csv"
    path.write_text("\n".join([header, *(f'{score},{image},"{text}",x' for image, text, score in rows)]) + "\n")
    return path


def parquet_file(folder: Path) -> Path:
    images, texts, scores = zip(*ROWS, strict=True)
    parquet.write_table(pa.table({"image": images, "text": texts, "score": scores}), folder / "scores.parquet")
    return folder / "scores.parquet"


def npz_file(folder: Path) -> Path:
    np.savez(
        folder / "scores.npz",
        images=np.array(["b.jpg", "a.jpg"]),
        texts=np.array(["A dog.", "A cat."]),
        scores=np.array([[DOG_B, CAT_B], [DOG_A, CAT_A]], dtype=np.float32),
    )
    return folder / "scores.npz"


def csv_matrix(folder: Path) -> Path:
    path = folder / "matrix.csv"
    path.write_text(f'image,"A dog.",A cat.\nb.jpg,{DOG_B},{CAT_B}\na.jpg,{DOG_A},{CAT_A}\n')
    return path


def parquet_matrix(folder: Path) -> Path:
    columns = {"image": ["b.jpg", "a.jpg"], "A cat.": [CAT_B, CAT_A], "A dog.": [DOG_B, DOG_A]}
    parquet.write_table(pa.table(columns), folder / "matrix.parquet")
    return folder / "matrix.parquet"


@pytest.mark.parametrize("write", [csv_file, parquet_file, npz_file, csv_matrix, parquet_matrix])
def test_scores_are_found_by_image_and_text_whatever_their_order(tmp_path: Path, write: Any) -> None:
    first, second = ScoreFile(write(tmp_path))(BLOCKS)
    assert first.tolist() == [[CAT_A, DOG_A], [CAT_B, DOG_B]]
    assert second.tolist() == [[DOG_B, CAT_B], [DOG_A, CAT_A]]


def test_an_array_has_the_blocks_in_their_order(tmp_path: Path) -> None:
    np.save(tmp_path / "scores.npy", np.arange(8).reshape(2, 2, 2))
    assert [matrix.tolist() for matrix in ScoreFile(tmp_path / "scores.npy")(BLOCKS)] == [
        [[0, 1], [2, 3]],
        [[4, 5], [6, 7]],
    ]


def refused(path: Path) -> str:
    with pytest.raises(BenchmarkError) as error:
        list(ScoreFile(path)(BLOCKS))
    return str(error.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("image,A cat.,A dog.\na.jpg,0.1,high\n", "matrix.csv: Record 1: a score is missing, or not a number."),
        ("image,A cat.,A dog.\na.jpg,0.1\n", "matrix.csv: Record 1: a score is missing, or not a number."),
        ("image,A cat.,A dog.\na.jpg,1,2\na.jpg,1,2\n", "matrix.csv: It names an image or a text twice."),
        ("image,A cat.\na.jpg,1\n", "matrix.csv has no score of the image 'b.jpg'."),
    ],
)
def test_what_is_wrong_with_a_matrix_is_a_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    (tmp_path / "matrix.csv").write_text(content)
    assert refused(tmp_path / "matrix.csv") == sentence


def test_a_pair_without_a_score_is_named(tmp_path: Path) -> None:
    assert refused(csv_file(tmp_path, ROWS[:3])) == "scores.csv has no score of b.jpg and 'A dog.'."
    np.savez(tmp_path / "s.npz", images=np.array(["a.jpg"]), texts=np.array(["A cat."]), scores=np.zeros((1, 1)))
    assert refused(tmp_path / "s.npz") == "s.npz has no score of the image 'b.jpg'."


@pytest.mark.parametrize(
    ("rows", "header", "sentence"),
    [
        (ROWS, "score,image,texts,note", "scores.csv lacks text; it has score, image, texts, note."),
        ([("a.jpg", "A cat.", "high")], "score,image,text,note", "Record 1: the score is 'high', not a number."),
        (
            [*ROWS, ("a.jpg", "A cat.", 3)],
            "score,image,text,note",
            "Record 5: a.jpg and 'A cat.' have another score above.",
        ),
    ],
    ids=["columns", "words", "twice"],
)
def test_what_is_wrong_with_a_table_is_a_sentence(tmp_path: Path, rows: Any, header: str, sentence: str) -> None:
    assert sentence in refused(csv_file(tmp_path, rows, header))


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"scores": np.zeros((2, 2))}, "s.npz lacks images, texts."),
        (
            {"images": np.array(["a"]), "texts": np.array(["b"]), "scores": np.zeros((2, 2))},
            "s.npz has scores of the shape (2, 2) for 1 images and 1 texts.",
        ),
        (
            {"images": np.array(["a", "a"]), "texts": np.array(["b"]), "scores": np.zeros((2, 1))},
            "s.npz names an image or a text twice.",
        ),
        (
            {"images": np.array(["a"]), "texts": np.array(["b"]), "scores": np.array([["x"]])},
            "The scores of s.npz are no numbers.",
        ),
    ],
    ids=["lacks", "shape", "twice", "words"],
)
def test_what_is_wrong_with_named_arrays_is_a_sentence(tmp_path: Path, arrays: Any, sentence: str) -> None:
    np.savez(tmp_path / "s.npz", **arrays)
    assert refused(tmp_path / "s.npz").startswith(sentence)


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ((2, 4), "s.npy has the shape (2, 4), not blocks x images x texts."),
        ((2, 1, 2), "s.npy has blocks of 1 images x 2 texts, and block 1 of the benchmark has 2 x 2."),
        ((1, 2, 2), "s.npy has 1 blocks, and the benchmark has more."),
        ((3, 2, 2), "s.npy has 3 blocks, and the benchmark has 2."),
    ],
)
def test_an_array_that_is_not_of_the_benchmark_is_refused(tmp_path: Path, shape: Any, sentence: str) -> None:
    np.save(tmp_path / "s.npy", np.zeros(shape))
    assert refused(tmp_path / "s.npy") == sentence


@pytest.mark.parametrize("name", ["s.csv", "s.parquet", "s.npy", "s.npz", "s.txt"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\0", b"nonsense"])
def test_whatever_the_bytes_are_there_is_a_sentence(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert refused(tmp_path / name).endswith(".")


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "s.npy", np.array([object()]), allow_pickle=True)
    assert refused(tmp_path / "s.npy") == "s.npy is not a NumPy file of numbers and names."

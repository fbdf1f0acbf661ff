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


def csv_file(folder: Path) -> Path:
    path, header = folder / "scores.csv", "score,image,text,note"
    path.write_text("\n".join([header, *(f'{score},{image},"{text}",x' for image, text, score in ROWS)]) + "\n")
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


def saved(folder: Path, content: Any) -> Path:
    """Write a text as CSV, an array as NumPy's npy, and named arrays as npz."""
    if isinstance(content, str):
        (folder / "s.csv").write_text(content)
        return folder / "s.csv"
    if isinstance(content, dict):
        np.savez(folder / "s.npz", **content)
        return folder / "s.npz"
    np.save(folder / "s.npy", content)
    return folder / "s.npy"


def named(images: list[str], texts: list[str], scores: Any) -> dict[str, Any]:
    return {"images": np.array(images), "texts": np.array(texts), "scores": np.array(scores)}


HEADER, MATRIX = "image,text,score\n", "image,A cat.,A dog.\n"
NOT_A_NUMBER = "s.csv: Record 1: a score is missing, or not a number."


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (f"{MATRIX}a.jpg,0.1,high\n", NOT_A_NUMBER),
        (f"{MATRIX}a.jpg,0.1\n", NOT_A_NUMBER),
        (f"{MATRIX}a.jpg,1,2\na.jpg,1,2\n", "s.csv: An image or a text occurs twice."),
        ("image,A cat.\na.jpg,1\n", "s.csv has no score of the image 'b.jpg'."),
        (f"{HEADER}a.jpg,A cat.,1\n", "s.csv has no score of a.jpg and 'A dog.'."),
        ("score,image,texts\n", "s.csv lacks text; it has score, image, texts."),
        (f"{HEADER}a.jpg,A cat.,high\n", "s.csv: Record 1: the score is 'high', not a number."),
        (f"{HEADER}a,A.,1\na,A.,2\n", "s.csv: Record 2: a and 'A.' have another score above."),
        (named(["a.jpg"], ["A cat."], [[0.0]]), "s.npz has no score of the image 'b.jpg'."),
        ({"scores": np.zeros((2, 2))}, "s.npz lacks images, texts."),
        (named(["a"], ["b"], np.zeros((2, 2))), "s.npz has scores of shape (2, 2) for 1 images and 1 texts."),
        (named(["a", "a"], ["b"], np.zeros((2, 1))), "s.npz has an image or a text twice."),
        (named(["a"], ["b"], [["x"]]), "The scores of s.npz are not numbers."),
        (np.zeros((2, 4)), "s.npy has the shape (2, 4), not blocks x images x texts."),
        (np.zeros((2, 1, 2)), "s.npy has blocks of 1 images x 2 texts, and block 1 of the benchmark has 2 x 2."),
        (np.zeros((1, 2, 2)), "s.npy has 1 blocks, and the benchmark has more."),
        (np.zeros((3, 2, 2)), "s.npy has 3 blocks, and the benchmark has 2."),
        # Objects are never unpickled.
        (np.array([object()]), "s.npy is not a NumPy file of numbers and names."),
    ],
)
def test_what_is_wrong_with_scores_is_a_sentence(tmp_path: Path, content: Any, sentence: str) -> None:
    assert refused(saved(tmp_path, content)).startswith(sentence)


@pytest.mark.parametrize("name", ["s.csv", "s.parquet", "s.npy", "s.npz", "s.txt"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\0", b"nonsense"])
def test_whatever_the_bytes_are_there_is_a_sentence(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert refused(tmp_path / name).endswith(".")

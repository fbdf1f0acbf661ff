"""The nearest images by the real library faiss, which is optional on sites; scikit-learn is tested with `nearest:`."""

import numpy as np

from making.makers.nearest import Others, has_faiss


def test_faiss_finds_the_nearest_of_equal_ones_the_first() -> None:
    assert has_faiss()
    # Ten copies of the first, twenty at 0.6 and two at 0.
    vectors = np.array([[1, 0]] * 10 + [[0.6, 0.8]] * 20 + [[0, 1]] * 2, np.float32)
    ((first, second),) = Others(vectors).nearest(vectors[:1], [[0]], count=2, below=0.9999)
    assert (first[0], second[0], round(first[1], 6), round(second[1], 6)) == (10, 11, 0.6, 0.6)
    assert [row for row, _ in Others(vectors).nearest(vectors[:1], [[0]], count=2, below=0.5)[0]] == [30, 31]


def test_the_search_of_faiss_is_exact() -> None:
    vectors = np.random.default_rng(1).normal(size=(3000, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    np.fill_diagonal(cosines, -2)
    expected = np.argsort(-cosines, axis=1)[:, :5].tolist()
    found = Others(vectors).nearest(vectors, [[row] for row in range(3000)], count=5)
    assert [[row for row, _ in each] for each in found] == expected

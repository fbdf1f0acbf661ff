from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation import model_scores
from evaluation.model_scores import LoadedScorer, text_embedder
from evaluation.pictures import Pictures
from evaluation.protocols import BenchmarkError, Block

BLOCKS = [
    Block(("1", "2"), ("10", "20")),
    Block(("3",), ("30",)),
    Block(("1", "2", "3", "4"), ("10", "20", "30")),
    Block(("5",), ("10", "20")),
]


class Sums:
    """A model whose score is a text and an image added up; it remembers how much it was asked at once."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def score(self, pairs: Sequence[tuple[str, str]], open_picture: Any) -> list[Any]:
        self.asked.append(len(pairs))
        return [float(text) + float(image) for text, image in pairs]


@pytest.mark.parametrize(("at_once", "asked"), [(4096, [19]), (6, [5, 6, 6, 2]), (1, [2, 2, 1, 3, 3, 3, 3, 2])])
def test_every_block_gets_its_own_scores_however_many_are_asked_for_at_once(
    monkeypatch: pytest.MonkeyPatch, at_once: int, asked: list[int]
) -> None:
    monkeypatch.setattr(model_scores, "PAIRS_AT_ONCE", at_once)
    model = Sums()
    matrices = list(LoadedScorer(model, Pictures(Path("nowhere")))(BLOCKS))
    assert [matrix.tolist() for matrix in matrices] == [
        [[float(text) + float(image) for text in block.texts] for image in block.images] for block in BLOCKS
    ]
    assert model.asked == asked


def test_too_few_scores_and_none_at_all_are_sentences() -> None:
    class Short(Sums):
        def score(self, pairs: Sequence[tuple[str, str]], open_picture: Any) -> list[Any]:
            return [1.0]

    class Blind(Sums):
        def score(self, pairs: Sequence[tuple[str, str]], open_picture: Any) -> list[Any]:
            return [ValueError("There is no such picture.") for _ in pairs]

    class SeesSets(Sums):
        sees_sets = True

    for model, sentence in (
        (Short(), "gave 1 scores for 19 pairs"),
        (Blind(), "There is no such picture"),
        (SeesSets(), "compares a text with all images of a set"),
    ):
        with pytest.raises(BenchmarkError, match=sentence):
            list(LoadedScorer(model, Pictures(Path("nowhere")))(BLOCKS))


class Towers:
    """A model of two towers that takes three texts at once, neither more nor less."""

    batch = 3

    def tokenize(self, text: str) -> Any:
        return np.array([len(text), 1])

    def embed_texts(self, batch: Any) -> Any:
        assert batch.shape == (3, 2)
        return batch.astype(np.float32) * 2


def test_texts_are_embedded_in_batches_of_one_shape() -> None:
    embed = text_embedder(Towers())
    assert embed is not None
    assert embed(["a", "bb", "ccc", "dddd"]).tolist() == [[2, 2], [4, 2], [6, 2], [8, 2]]
    assert text_embedder(Sums()) is None

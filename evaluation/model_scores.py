"""Score a benchmark's images and texts with models loaded on this machine."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from PIL import Image

from analytics.scores import Floats
from evaluation.errors import BenchmarkError
from evaluation.pictures import Pictures
from evaluation.protocols.base import Block, EmbedTexts

# Enough pairs to fill batches, few enough for memory.
PAIRS_AT_ONCE = 4096


class ScoresPairs(Protocol):
    def score(
        self, pairs: Sequence[tuple[str, str]], open_picture: Callable[[str], Image.Image]
    ) -> Sequence[float | Exception]:
        """Return for each text and image (its name) how well they go together, or why there is no score."""


class LoadedScorer:
    """A scorer (`evaluation.protocols.base.Scorer`) with a loaded model.

    It scores many small blocks at once, and a large one by the images of a few rows.
    """

    def __init__(self, model: ScoresPairs, pictures: Pictures) -> None:
        self.model, self.pictures = model, pictures

    def __call__(self, blocks: Iterable[Block]) -> Iterator[Floats]:
        if getattr(self.model, "sees_sets", False):
            raise BenchmarkError(
                "This model compares a text with all images of a set, and benchmarks score pairs. Ask it about image "
                "sets of a project, with predict."
            )
        waiting: list[Block] = []
        count = 0
        for block in blocks:
            size = len(block.images) * len(block.texts)
            if count + size > PAIRS_AT_ONCE:
                yield from self._matrices(waiting)
                waiting, count = [], 0
            waiting.append(block)
            count += size
        yield from self._matrices(waiting)

    def _matrices(self, blocks: Sequence[Block]) -> Iterator[Floats]:
        if len(blocks) == 1:
            (block,) = blocks
            rows = max(1, PAIRS_AT_ONCE // max(1, len(block.texts)))
            parts = [
                self._scores([(text, image) for image in block.images[start : start + rows] for text in block.texts])
                for start in range(0, len(block.images), rows)
            ]
            yield np.concatenate(parts).reshape(len(block.images), len(block.texts))
        elif blocks:
            scores = self._scores([(text, image) for block in blocks for image in block.images for text in block.texts])
            at = 0
            for block in blocks:
                shape = len(block.images), len(block.texts)
                yield scores[at : at + shape[0] * shape[1]].reshape(shape)
                at += shape[0] * shape[1]

    def _scores(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        scores = list(self.model.score(pairs, self.pictures.open))
        failed = next((each for each in scores if isinstance(each, Exception)), None)
        if failed is not None:
            raise BenchmarkError(str(failed))
        if len(scores) != len(pairs):
            raise BenchmarkError(f"The model gave {len(scores):,} scores for {len(pairs):,} pairs.")
        return np.array(scores, dtype=np.float64)


def text_embedder(model: Any) -> EmbedTexts | None:
    """Return the function that embeds texts with a two-tower model, in batches of one shape; None for other models."""
    if not all(hasattr(model, name) for name in ("tokenize", "embed_texts", "batch")):
        return None

    def embed(texts: Sequence[str]) -> Floats:
        rows: list[Floats] = []
        for start in range(0, len(texts), model.batch):
            tokens = np.stack([model.tokenize(text) for text in texts[start : start + model.batch]])
            padded = np.zeros((model.batch, *tokens.shape[1:]), dtype=tokens.dtype)
            padded[: len(tokens)] = tokens
            rows.append(np.asarray(model.embed_texts(padded), dtype=np.float64)[: len(tokens)])
        return np.concatenate(rows)

    return embed

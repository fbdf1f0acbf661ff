"""Benchmarks written into folders, and models whose scores stand in the test."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from analytics.scores import Floats, Mean, Score
from evaluation.protocols import Block, Breakdown, Evaluation, evaluate, get_protocol


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def matrices(*scores: Any) -> Any:
    """Return a model that gives these scores, images x texts, to the blocks in their order."""

    def score(blocks: Iterable[Block]) -> Iterator[Floats]:
        for _, matrix in zip(blocks, scores, strict=True):
            yield np.array(matrix, dtype=np.float64)

    return score


def evaluated(name: str, folder: Path, scorer: Any) -> Evaluation:
    protocol = get_protocol(name)
    return evaluate(protocol, protocol.read(folder), scorer)


def plain(part: Breakdown) -> dict[str, tuple[float, int] | float | None]:
    """Return the cells as (count, n), means as their value, and None where nothing is defined."""
    return {
        name: (cell.count, cell.n) if isinstance(cell, Score) else value_of(cell) for name, cell in part.cells.items()
    }


def value_of(cell: Mean) -> float | None:
    return cell.value

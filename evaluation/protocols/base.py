"""Interface of benchmark protocols: the data, the pairs to score, and the resulting tables."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Generic, Literal, Protocol, TypeVar

import numpy as np

from analytics.scores import Floats, Mean, Score
from evaluation.errors import BenchmarkError

Cell = Score | Mean
Data = TypeVar("Data")
Found = TypeVar("Found")
# Texts -> texts x dimensions.
EmbedTexts = Callable[[Sequence[str]], Floats]


@dataclass(frozen=True, slots=True)
class Block:
    """Images and texts; every image is scored against every text.

    images: names as in the benchmark's importer (`studies.importing`): a file in the data folder, a position in a
    folder (`studies.importing.folders`) or a part of a file (`studies.importing.parts`). texts: exactly as models read
    them.
    """

    images: Sequence[str]
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice within a block.

    `among` texts: which text belongs to the image at position `of`; otherwise which image belongs to the text there.
    `right`: the position of the right one.
    """

    among: Literal["text", "image"]
    of: int
    right: int


class Scorer(Protocol):
    def __call__(self, blocks: Iterable[Block]) -> Iterable[Floats]:
        """Return for every block, in order, a matrix images x texts of finite numbers; higher is a better match.

        Blocks are requested one at a time, so that neither side holds all of them. Raises BenchmarkError with whole
        sentences.
        """


@dataclass(frozen=True)
class Breakdown:
    """One row of a table: `n` questions or instances, and a value under each name. A `Mean` is a share, 0 to 1."""

    title: str
    n: int
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Evaluation:
    """Scores of a model on a benchmark: overall, by part, and notes for readers."""

    whole: Breakdown
    parts: Sequence[Breakdown] = ()
    notes: Sequence[str] = field(default_factory=tuple)


class Benchmark(ABC, Generic[Data, Found]):
    """A public benchmark under its paper's protocol. The docstring states its tie rule and its order of options.

    `Data`: the content of its files; `Found`: the outcomes of a model, from scores or from a result file.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str]
    # The files of a minimal benchmark, by name, as `read` takes them: for help, documentation and contract tests.
    example: ClassVar[Mapping[str, str]]

    @abstractmethod
    def read(self, folder: Path) -> Data:
        """Read the benchmark's own files. Raises BenchmarkError with all problems."""

    @abstractmethod
    def blocks(self, data: Data) -> Iterator[Block]:
        """Yield the blocks to score, always the same in the same order. Raises BenchmarkError if there are none."""

    def choices(self, data: Data) -> Iterator[Sequence[Choice]]:
        """Yield the choices of each of the `blocks`, in order, with the right answers; blind baselines learn from them.

        Raises BenchmarkError if no part of the benchmark can be scored from the rest.
        """
        raise BenchmarkError(
            f"{self.title} compares all its images and texts at once, so there are no other questions to learn from."
        )

    @abstractmethod
    def collect_outcomes(self, data: Data, scored: Iterator[tuple[Block, Floats]]) -> Found:
        """Return the outcomes from the scores of all blocks, in order."""

    @abstractmethod
    def tables(self, data: Data, found: Found) -> Evaluation:
        """Return the tables of the paper."""

    @abstractmethod
    def chance(self, data: Data) -> Mapping[str, float | None]:
        """Return the expected scores of guessing, 0 to 1, by name of the overall cells; None if undefined."""

    def read_published(self, data: Data, path: Path) -> Found | None:
        """Read results in one of the benchmark's own forms, without scores; None if the file has another form.

        Raises BenchmarkError, or evaluation.result_files.ResultsFileError, if the file has such a form and is invalid.
        """
        return None

    def answers(self, data: Data, scored: Iterator[tuple[Block, Floats]]) -> str:
        """Return a model's choices in the form of the leaderboard, for data without right answers.

        Raises BenchmarkError.
        """
        raise BenchmarkError(f"{self.title} has no leaderboard that takes a file of answers.")

    def prepare(self, folder: Path, *, seed: int, encoders: Mapping[str, EmbedTexts]) -> list[str]:
        """Create the data that the paper creates at random, in `folder`, unless it exists; return what was done.

        Created once and kept, so that people and all models see the same. encoders: name -> how it embeds texts. Raises
        BenchmarkError.
        """
        return [f"{self.title} is complete as published. There is nothing to prepare."]


def score_blocks(scorer: Scorer, blocks: Iterable[Block]) -> Iterator[tuple[Block, Floats]]:
    """Yield every block with its scores, images x texts. Raises BenchmarkError for scores that are none."""
    waiting: list[Block] = []

    def remember_blocks() -> Iterator[Block]:
        for block in blocks:
            waiting.append(block)
            yield block

    for scores in scorer(remember_blocks()):
        block = waiting.pop(0)
        matrix = np.asarray(scores, dtype=np.float64)
        expected = (len(block.images), len(block.texts))
        if matrix.shape != expected:
            raise BenchmarkError(
                f"The model returned scores of shape {matrix.shape}. Expected {expected} (images, texts)."
            )
        if not np.isfinite(matrix).all():
            image, text = np.argwhere(~np.isfinite(matrix))[0]
            raise BenchmarkError(
                f"The score of {block.images[image]} and {block.texts[text]!r} is {matrix[image, text]}, not a number."
            )
        yield block, matrix
    if waiting:
        raise BenchmarkError(f"The model gave no scores for {waiting[0].images[0]}.")


def evaluate(benchmark: Benchmark[Data, Found], data: Data, scorer: Scorer) -> Evaluation:
    """Score a benchmark and return its tables. Raises BenchmarkError."""
    return benchmark.tables(data, benchmark.collect_outcomes(data, score_blocks(scorer, benchmark.blocks(data))))

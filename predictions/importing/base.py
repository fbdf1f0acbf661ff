"""Interface of readers of prediction files: rows, each about one instance, with a model's answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evaluation.result_files import CorrectFile, RowContent
from studies.kinds import FINER_SCORES

# The question that most benchmarks ask: which caption the original image has.
CAPTION_OF_IMAGE = FINER_SCORES["Ipos2T"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer to the question of `kind` and `variant` (see `studies.kinds`).

    `scores`: one per option; `is_right` is then None, because it follows from the question. `scores` is None if the
    source says only whether the answer was right; the question then has the default options of its kind.
    """

    kind: str
    variant: str
    is_right: bool | None
    scores: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A record of a file of predictions. number: from 1, without the header.

    caption_rule: how the captions were prepared for the model; "" for the rule of the instance, as people read them.
    """

    number: int
    instance: RowContent
    answers: tuple[Answer, ...]
    caption_rule: str = ""


def rows_of_choices(file: CorrectFile) -> list[Row]:
    """Return for each choice between captions the answer about the original image."""
    choices = enumerate(zip(file.instances, file.correct, strict=True), start=1)
    return [
        Row(number, instance, (Answer(*CAPTION_OF_IMAGE, bool(correct)),), caption_rule="as-is-v1")
        for number, (instance, correct) in choices
    ]


class Reader(Protocol):
    def __call__(self, path: Path) -> list[Row]:
        """Read a whole file. Raises evaluation.result_files.ResultsFileError with all problems."""

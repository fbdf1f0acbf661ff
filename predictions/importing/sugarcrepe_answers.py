"""Answers of a chat model asked to choose a caption: GPT-4V's on SugarCrepe, one JSON file per type."""

from pathlib import Path

from evaluation.result_files import read_two_choice_answers
from predictions.importing.base import Row, rows_of_choices


def read(path: Path) -> list[Row]:
    """Return one row per item with the answer about the original image; a refusal to choose is wrong.

    Raises evaluation.result_files.ResultsFileError.
    """
    return rows_of_choices(read_two_choice_answers(path))

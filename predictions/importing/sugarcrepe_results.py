"""What BiVLC's evaluation writes about a model on SugarCrepe: whether it gave the image its caption."""

from pathlib import Path

from evaluation.result_files import read_correct
from predictions.importing.base import Row, rows_of_choices


def read(path: Path) -> list[Row]:
    """Return an answer to the original image per row. Raises evaluation.result_files.ResultsFileError."""
    return rows_of_choices(read_correct(path))

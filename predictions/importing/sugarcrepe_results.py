"""Results of a model on SugarCrepe, as BiVLC's evaluation writes them: per item, whether it chose the right caption."""

from pathlib import Path

from evaluation.result_files import read_correct
from predictions.importing.base import Row, rows_of_choices


def read(path: Path) -> list[Row]:
    """Return one row per record: whether the model chose the caption of the original image. Raises ResultsFileError."""
    return rows_of_choices(read_correct(path))

"""What BiVLC's evaluation writes about a model on SugarCrepe: whether it gave the image its caption."""

from pathlib import Path

from evaluation.result_files import read_correct
from predictions.importing.base import CAPTION_OF_IMAGE, Answer, Row


def read(path: Path) -> list[Row]:
    """Return an answer to the original image per row. Raises evaluation.result_files.ResultsFileError."""
    file = read_correct(path)
    return [
        Row(
            index + 1,
            instance,
            (Answer(*CAPTION_OF_IMAGE, bool(file.correct[index])),),
            caption_rule="as-is-v1",
        )
        for index, instance in enumerate(file.instances)
    ]

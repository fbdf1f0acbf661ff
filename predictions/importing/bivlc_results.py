"""Results of a model on BiVLC, as its evaluation writes them: four outcomes per instance, either column naming."""

from pathlib import Path

from evaluation.result_files import read_outcomes
from predictions.importing.base import Answer, Row
from studies.kinds import FINER_SCORES


def read(path: Path) -> list[Row]:
    """Return one row per record with four answers: about both images and about both captions.

    Raises evaluation.result_files.ResultsFileError.
    """
    file = read_outcomes(path)
    questions = [(*question, getattr(file.outcomes, score.lower())) for score, question in FINER_SCORES.items()]
    return [
        Row(
            index + 1,
            instance,
            tuple(Answer(kind, variant, bool(right[index])) for kind, variant, right in questions),
            caption_rule="bivlc-release-v1",
        )
        for index, instance in enumerate(file.instances)
    ]

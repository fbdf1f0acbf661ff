"""What BiVLC's evaluation writes about a model: four outcomes per instance, under either naming of the columns."""

from pathlib import Path

from analytics.results_files import read_outcomes
from predictions.importing.base import Answer, Row


def read(path: Path) -> list[Row]:
    """Return four answers per row: to both images and to both captions.

    Raises analytics.results_files.ResultsFileError.
    """
    file = read_outcomes(path)
    four = file.outcomes
    questions = (
        ("image_to_text", "image", four.ipos2t),
        ("image_to_text", "negative_image", four.ineg2t),
        ("text_to_image", "caption", four.tpos2i),
        ("text_to_image", "negative_caption", four.tneg2i),
    )
    return [
        Row(
            place + 1,
            instance,
            tuple(Answer(kind, variant, bool(right[place])) for kind, variant, right in questions),
            caption_rule="bivlc-release-v1",
        )
        for place, instance in enumerate(file.instances)
    ]

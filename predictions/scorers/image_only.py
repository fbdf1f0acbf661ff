"""`image-only:EMBEDDING` or `image-only:MODEL`: baselines that see nothing but pictures. They are fitted to questions
whose right answers are known (`evaluation.blind`), which no worker with models is told, so there is none to be loaded
here: of a MODEL, such a worker is asked for the vectors of pictures alone, by the model's own spec."""

from typing import NoReturn

from predictions.scorers.base import CannotLoad


def load(rest: str) -> NoReturn:
    """Raises CannotLoad."""
    raise CannotLoad(
        f"image-only:{rest} is fitted to questions whose right answers are known. The site computes it: ask for it "
        "with `predict`."
    )

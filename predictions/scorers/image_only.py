"""`image-only:EMBEDDING` or `image-only:MODEL`: blind baselines that see only the images.

The site fits them to questions with known right answers (`evaluation.blind`), so workers load nothing here. For a
MODEL, a worker computes image embeddings under the model's own spec.
"""

from typing import NoReturn

from predictions.scorers.base import CannotLoad


def load(rest: str) -> NoReturn:
    """Raises CannotLoad."""
    raise CannotLoad(
        f"image-only:{rest} is fitted to questions with known right answers, so the site computes it. Request it "
        "with `predict`."
    )

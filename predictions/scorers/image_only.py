"""`image-only:EMBEDDING` or `image-only:MODEL`: blind baselines that see only the images.

The site fits them to questions with known right answers (`evaluation.blind`), so workers load none of these. For a
MODEL, a worker computes image embeddings under the model's own spec.
"""

from predictions.scorers.base import CannotLoad
from predictions.scorers.detector import IMAGE, PREFIX, Detector, load_detector


def load(rest: str) -> Detector:
    """Load the detector of detector:FILE. Raises CannotLoad for any other one."""
    if rest.startswith(PREFIX):
        return load_detector(IMAGE, rest.removeprefix(PREFIX))
    raise CannotLoad(
        f"image-only:{rest} is fitted to questions with known right answers, so the site computes it. Request it "
        "with `predict`."
    )

"""Reject texts that a model finds implausible, because that betrays a negative to whoever sees no image.

Source: Hsieh et al. 2023 (SugarCrepe), section 4, with Vera as the model: `vera:liujch1998/vera`.
"""

from typing import ClassVar

from making.filters.text_scores import TextScoreFilter


class Plausible(TextScoreFilter):
    """Reject texts whose plausibility, by a named model, is too low, or too far below that of their parent."""

    version: ClassVar[str] = "1"
    quality: ClassVar[str] = "plausibility"

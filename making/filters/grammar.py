"""Reject texts that a model finds ungrammatical, because that betrays a negative to whoever sees no image.

Source: Hsieh et al. 2023 (SugarCrepe), section 4, with a classifier trained on CoLA as the model:
`classifier:textattack/distilbert-base-uncased-CoLA`.
"""

from typing import ClassVar

from making.filters.text_scores import TextScoreFilter


class Grammar(TextScoreFilter):
    """Reject texts whose grammar, by a named model, is too poor, or too far below that of their parent."""

    version: ClassVar[str] = "1"
    quality: ClassVar[str] = "grammar score"

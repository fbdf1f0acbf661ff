"""CLIP_TROHN-Text: contrastive fine-tuning with hard negative captions."""

from collections.abc import Sequence
from typing import ClassVar

from training.examples import Example
from training.recipes.bivlc import PAPER, FineTuning
from training.recipes.contrastive import RIGHT_CAPTION, NegativeCaptions, has_negative_captions
from training.towers import load_towers


class TROHNText(FineTuning):
    """Miranda et al. 2024. A batch of n examples has n images, their captions, and n negative captions.

    Each image must find its caption among all 2n, each of the n captions its image.
    """

    name = "trohn-text"
    title = "CLIP_TROHN-Text"
    version = "1"
    source = f"{PAPER}, section 6; code: CLIP_fine_tuning.py in IMirandaM/BiVLC"
    needs = "an image, its caption, and at least one negative caption"
    measures = RIGHT_CAPTION
    departures: ClassVar[Sequence[str]] = (
        *FineTuning.departures,
        "Of several negative captions one is drawn in each epoch; in the authors' data each is an example of its own.",
    )

    def accepts(self, example: Example) -> bool:
        return has_negative_captions(example)

    def load(self, base: str, seed: int, device: str = "") -> NegativeCaptions:
        return NegativeCaptions(load_towers(base, self.families, device))

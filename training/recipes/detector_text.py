"""BiVLC's detector of synthetic texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from training.batches import Batch
from training.examples import Example
from training.recipes.base import Epochs
from training.recipes.bivlc import PAPER
from training.recipes.contrastive import has_negative_captions
from training.recipes.detection import DETECTION, SCRIPTS, Detection, Detector, linear_head
from training.towers import load_towers


class DetectorText(Detection):
    """Miranda et al. 2024, section 5.3: a linear layer on the text tower tells negative captions from true ones.

    Where it can, the captions alone give the answer away.
    """

    name = "detector-text"
    title = "Detector of synthetic texts"
    version = "1"
    source = f"{PAPER}, section 5.3; code: Detector_text_classifier.py in IMirandaM/BiVLC"
    needs = "a caption and a negative caption"
    measures = DETECTION.format("captions")
    departures: ClassVar[Sequence[str]] = (
        *Detection.departures,
        "Of several negative captions only the first is used; the authors' data have one each.",
    )

    epochs: Epochs = Field(default=10, description=f"{SCRIPTS}.")

    def accepts(self, example: Example) -> bool:
        return has_negative_captions(example)

    def load(self, base: str, seed: int, device: str = "") -> "TextDetector":
        towers = load_towers(base, self.families, device)
        return TextDetector(towers, linear_head(towers, seed))


@dataclass
class TextDetector(Detector):
    part: ClassVar[str] = "text"

    def both(self, example: Example) -> Sequence[str]:
        return example.captions[:2]

    def batch_of(self, examples: Sequence[Example], every: Sequence[str]) -> Batch:
        return Batch(examples, (), every)

"""BiVLC's detector of synthetic texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field

from training.examples import Example
from training.reading import Batch
from training.recipes.base import Precision, Recipe
from training.recipes.bivlc import DETECTORS, PAPER
from training.recipes.contrastive import has_negative_captions
from training.recipes.detection import DETECTION, Detector, linear_head
from training.towers import load_towers

SCRIPT = DETECTORS.format("text")
ADAM = f"{SCRIPT}, which leaves it at torch's default for Adam."


class DetectorText(Recipe):
    """Miranda et al. 2024, section 5.3: a linear layer on the text tower tells negative captions from true ones.

    Where it can, the captions alone give the answer away.
    """

    name = "detector-text"
    title = "Detector of synthetic texts"
    version = "1"
    source = f"{PAPER}, section 5.3; code: Detector_text_classifier.py in IMirandaM/BiVLC"
    needs = "a caption and a negative caption"
    measures = DETECTION.format("captions")

    batch: int = Field(default=400, ge=1, description=f"Examples per step, each with two captions. {SCRIPT}.")
    epochs: int = Field(default=10, ge=1, description=f"{SCRIPT}.")
    learning_rate: float = Field(default=1e-3, gt=0, description=f"{SCRIPT}, where its argument --lr is not used.")
    warmup_steps: int = Field(default=0, ge=0, description=f"{SCRIPT}: none.")
    schedule: Literal["cosine", "constant"] = Field(default="constant", description=f"{SCRIPT}: none.")
    weight_decay: float = Field(default=0.0, ge=0, description=ADAM)
    beta1: float = Field(default=0.9, gt=0, lt=1, description=ADAM)
    beta2: float = Field(default=0.999, gt=0, lt=1, description=ADAM)
    epsilon: float = Field(default=1e-8, gt=0, description=ADAM)
    precision: Precision = Field(default="float32", description=f"{SCRIPT}.")

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

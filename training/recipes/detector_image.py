"""BiVLC's detector of synthetic images."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field

from training.examples import Example
from training.reading import Batch
from training.recipes.base import Precision, Recipe
from training.recipes.bivlc import DETECTORS, PAPER
from training.recipes.detection import DETECTION, Detector, linear_head
from training.towers import load_towers

SCRIPT = DETECTORS.format("img")
ADAM = f"{SCRIPT}, which leaves it at torch's default for Adam."


class DetectorImage(Recipe):
    """Miranda et al. 2024, section 5.3: a linear layer on the image tower tells generated images from photos.

    Where it can, the images alone give the answer away.
    """

    name = "detector-image"
    title = "Detector of synthetic images"
    version = "1"
    source = f"{PAPER}, section 5.3; code: Detector_img_classifier.py in IMirandaM/BiVLC"
    needs = "an image and a negative image"
    measures = DETECTION.format("images")

    batch: int = Field(default=400, ge=1, description=f"Examples per step, each with two images. {SCRIPT}.")
    epochs: int = Field(default=1, ge=1, description=f"{SCRIPT}.")
    learning_rate: float = Field(default=1e-3, gt=0, description=f"{SCRIPT}, where its argument --lr is not used.")
    warmup_steps: int = Field(default=0, ge=0, description=f"{SCRIPT}: none.")
    schedule: Literal["cosine", "constant"] = Field(default="constant", description=f"{SCRIPT}: none.")
    weight_decay: float = Field(default=0.0, ge=0, description=ADAM)
    beta1: float = Field(default=0.9, gt=0, lt=1, description=ADAM)
    beta2: float = Field(default=0.999, gt=0, lt=1, description=ADAM)
    epsilon: float = Field(default=1e-8, gt=0, description=ADAM)
    precision: Precision = Field(default="float32", description=f"{SCRIPT}.")

    def accepts(self, example: Example) -> bool:
        return len(example.images) == 2 and example.target is None

    def load(self, base: str, seed: int, device: str = "") -> "ImageDetector":
        towers = load_towers(base, self.families, device)
        return ImageDetector(towers, linear_head(towers, seed))


@dataclass
class ImageDetector(Detector):
    part: ClassVar[str] = "image"

    def both(self, example: Example) -> Sequence[str]:
        return example.images

    def batch_of(self, examples: Sequence[Example], every: Sequence[str]) -> Batch:
        return Batch(examples, every)

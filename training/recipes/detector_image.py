"""BiVLC's detector of synthetic images."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from training.batches import Batch
from training.examples import Example
from training.recipes.base import Epochs
from training.recipes.bivlc import PAPER
from training.recipes.detection import DETECTION, SCRIPTS, Detection, Detector, linear_head
from training.towers import load_towers


class DetectorImage(Detection):
    """Miranda et al. 2024, section 5.3: a linear layer on the image tower tells generated images from photos.

    Where it can, the images alone give the answer away.
    """

    name = "detector-image"
    title = "Detector of synthetic images"
    version = "1"
    source = f"{PAPER}, section 5.3; code: Detector_img_classifier.py in IMirandaM/BiVLC"
    needs = "an image and a negative image"
    measures = DETECTION.format("images")

    epochs: Epochs = Field(default=1, description=f"{SCRIPTS}.")

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

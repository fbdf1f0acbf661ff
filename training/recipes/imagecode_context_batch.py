"""ImageCoDe's CLIP +ContextBatch: the ten images of a set are each other's negatives."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import Field

from training.batches import Batch
from training.examples import Example
from training.recipes.base import BatchSize, Epochs, Precision, Recipe
from training.recipes.contrastive import TwoTowers
from training.recipes.image_sets import (
    ACCURACY,
    COMMAND,
    NEEDS,
    PAPER,
    VALIDATION,
    batch_of_sets,
    is_of_image_set,
    right_targets,
    targets_of,
    vectors_of_sets,
)
from training.towers import load_towers

SCRIPT = COMMAND.format("contra.py")


class ContextBatch(Recipe):
    """Krojer et al. 2022, section 5.1: CLIP is fine-tuned to choose the described image among the ten of its set."""

    name = "imagecode-context-batch"
    title = "CLIP +ContextBatch"
    version = "1"
    source = f"{PAPER}, section 5.1; code: baselines/clip/contra.py in McGill-NLP/imagecode"
    needs = NEEDS
    measures = ACCURACY
    departures: ClassVar[Sequence[str]] = (
        "The authors store the weights in 16 bits between the steps; here they stay in 32 bits.",
        VALIDATION,
    )

    batch: BatchSize = Field(default=36, description=f"Descriptions per step, with ten images each. {SCRIPT}.")
    epochs: Epochs = Field(default=30, description=f"{SCRIPT}.")
    learning_rate: float = Field(default=4e-6, gt=0, description=f"{SCRIPT}.")
    warmup_steps: int = Field(default=0, ge=0, description=f"{SCRIPT}: none.")
    schedule: Literal["cosine", "constant"] = Field(default="constant", description=f"{SCRIPT}: none.")
    weight_decay: float = Field(default=0.01, ge=0, description=f"Of all parameters. {SCRIPT}.")
    beta1: float = Field(default=0.9, gt=0, lt=1, description=f"{SCRIPT}.")
    beta2: float = Field(default=0.98, gt=0, lt=1, description=f"{SCRIPT}.")
    epsilon: float = Field(default=1e-6, gt=0, description=f"{SCRIPT}.")
    precision: Precision = Field(default="float16", description=f"Of matrix products on a GPU. {SCRIPT}.")

    def accepts(self, example: Example) -> bool:
        return is_of_image_set(example)

    def load(self, base: str, seed: int, device: str = "") -> "ImageSets":
        return ImageSets(load_towers(base, self.families, device))


@dataclass
class ImageSets(TwoTowers):
    """CLIP on sets of images."""

    def parameter_groups(self, recipe: Any) -> list[dict[str, Any]]:
        return [{"params": list(self.towers.model.parameters())}]

    def batch(self, examples: Sequence[Example], rng: random.Random) -> Batch:
        return batch_of_sets(examples)

    def losses(self, batch: Batch, images: Any, texts: Any) -> dict[str, Any]:
        from torch.nn.functional import cross_entropy

        logits = self.towers.logit_scale * self._cosines(images, texts)
        return {"cross-entropy": cross_entropy(logits, targets_of(batch, logits.device))}

    def validation_batch(self, examples: Sequence[Example]) -> Batch:
        return batch_of_sets(examples)

    def outcomes(self, batch: Batch, images: Any, texts: Any) -> Sequence[bool]:
        return right_targets(batch, self._cosines(images.double(), texts.double()))

    def _cosines(self, images: Any, texts: Any) -> Any:
        sets, described = vectors_of_sets(images, texts)
        return (sets * described[:, None]).sum(-1)

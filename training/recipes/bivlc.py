"""Hyper-parameters that the models of BiVLC's paper share. Pure."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from training.recipes.base import BatchSize, Epochs, Precision, Recipe

PAPER = (
    'Miranda et al. 2024, "BiVLC: Extending Vision-Language Compositionality Evaluation with Text-to-Image Retrieval"'
)
CARD = "Source: the authors' model cards of CLIP_COCO, CLIP_TROHN-Text and CLIP_TROHN-Img on the Hugging Face Hub."
# The script's own value, 400, is that of CLIP_COCO, which has no negatives.
TROHN_CARDS = "Source: the model cards of CLIP_TROHN-Text (200 images x 400 captions) and CLIP_TROHN-Img (400 x 400)."
SCRIPT = "Source: src/CLIP_fine_tuning/CLIP_fine_tuning.py in IMirandaM/BiVLC."


class FineTuning(Recipe):
    """How BiVLC's authors fine-tuned CLIP."""

    departures: ClassVar[Sequence[str]] = (
        "The paper keeps the model with the best accuracy within batches of its validation set; here it is the one "
        "with the best score on the validation set, which does not depend on the batches.",
    )

    batch: BatchSize = Field(default=200, description=f"Examples per step, before negatives are added. {TROHN_CARDS}")
    epochs: Epochs = Field(default=10, description=CARD)
    learning_rate: float = Field(default=1e-6, gt=0, description=f"The highest, after warming up. {CARD}")
    warmup_steps: int = Field(default=50, ge=0, description=CARD)
    schedule: Literal["cosine", "constant"] = Field(default="cosine", description=CARD)
    weight_decay: float = Field(default=0.1, ge=0, description=f"{CARD} Not of norms and biases: {SCRIPT}")
    beta1: float = Field(default=0.9, gt=0, lt=1, description=CARD)
    beta2: float = Field(default=0.98, gt=0, lt=1, description=CARD)
    epsilon: float = Field(default=1e-6, gt=0, description=CARD)
    precision: Precision = Field(default="float32", description=f"Of matrix products. {SCRIPT}")

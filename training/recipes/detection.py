"""Code shared by detectors of synthetic content: a linear layer on one tower, which stays as it is. Pure."""

import random
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from analytics.scores import seen_as_natural
from predictions.scorers.detector import BASE, HEAD, PART, WEIGHTS_OF_BASE, spec_of, weights_of
from training.batches import Batch
from training.checkpoints import write_file
from training.examples import Example
from training.recipes.base import BatchSize, Precision, Recipe, Saved, Trainable
from training.towers import Towers

SCRIPTS = "Source: src/Detectors/Detector_text_classifier.py and Detector_img_classifier.py in IMirandaM/BiVLC"
ADAM = f"{SCRIPTS}, which leave it at torch's default for Adam."
DETECTION = "The share of {}, positive and negative, that are told apart (detection accuracy of BiVLC, table 5)"


class Detection(Recipe):
    """How BiVLC's authors trained both detectors (Miranda et al. 2024, section 5.3)."""

    departures: ClassVar[Sequence[str]] = (
        "The authors keep the epoch with the best mean accuracy of validation batches, of which the last may be "
        "smaller; here each text or image counts the same.",
    )

    batch: BatchSize = Field(default=400, description=f"Examples per step, each with two texts or images. {SCRIPTS}.")
    learning_rate: float = Field(default=1e-3, gt=0, description=f"{SCRIPTS}, which do not use their argument --lr.")
    warmup_steps: int = Field(default=0, ge=0, description=f"{SCRIPTS}: none.")
    schedule: Literal["cosine", "constant"] = Field(default="constant", description=f"{SCRIPTS}: none.")
    weight_decay: float = Field(default=0.0, ge=0, description=ADAM)
    beta1: float = Field(default=0.9, gt=0, lt=1, description=ADAM)
    beta2: float = Field(default=0.999, gt=0, lt=1, description=ADAM)
    epsilon: float = Field(default=1e-8, gt=0, description=ADAM)
    precision: Precision = Field(default="float32", description=f"{SCRIPTS}.")


@dataclass
class Detector(Trainable):
    """A linear layer that tells what is synthetic from the vectors of one tower."""

    is_frozen: bool = True
    part: ClassVar[str]

    @abstractmethod
    def both(self, example: Example) -> Sequence[str]:
        """Return the natural and the synthetic text, or image, of an example."""

    @abstractmethod
    def batch_of(self, examples: Sequence[Example], every: Sequence[str]) -> Batch:
        """Return a batch of these texts, or images."""

    def batch(self, examples: Sequence[Example], rng: random.Random) -> Batch:
        return self.batch_of(examples, [self.both(example)[place] for place in (0, 1) for example in examples])

    def validation_batch(self, examples: Sequence[Example]) -> Batch:
        return self.batch(examples, random.Random(0))  # noqa: S311 (not drawn from)

    def losses(self, batch: Batch, images: Any, texts: Any) -> Mapping[str, Any]:
        """Return the cross-entropy; of the natural half of a batch the label is 0, of the synthetic one 1."""
        import torch
        from torch.nn.functional import binary_cross_entropy_with_logits

        logits = self.logits(images, texts)
        labels = torch.zeros_like(logits)
        labels[len(batch.examples) :] = 1
        return {"cross-entropy": binary_cross_entropy_with_logits(logits, labels)}

    def outcomes(self, batch: Batch, images: Any, texts: Any) -> Sequence[bool]:
        natural = seen_as_natural(self.logits(images, texts).detach().sigmoid().double().cpu().numpy())
        half = len(batch.examples)
        return [*natural[:half].tolist(), *(~natural[half:]).tolist()]

    def logits(self, images: Any, texts: Any) -> Any:
        return self.head(texts if images is None else images)[:, 0]

    def parameter_groups(self, recipe: Any) -> list[dict[str, Any]]:
        return [{"params": list(self.head.parameters()), "weight_decay": recipe.weight_decay}]

    @property
    def modules(self) -> Mapping[str, Any]:
        return {"head": self.head}

    def weights(self) -> Mapping[str, Any]:
        return weights_of(self.head, self.towers.identity.weights)

    def save(self, folder: Path, name: str) -> Saved:
        path = folder / f"{name}.pt"
        known = {BASE: self.towers.spec, WEIGHTS_OF_BASE: self.towers.identity.weights, PART: self.part}
        write_file(path, {**known, HEAD: self.head.state_dict()})
        return Saved(path, spec_of(self.part, path))


def linear_head(towers: Towers, seed: int) -> Any:
    """Return a linear layer from vectors of the towers to one number, begun at random."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return torch.nn.Linear(towers.vector_length, 1).to(towers.device)

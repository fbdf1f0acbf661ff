"""ImageCoDe's CLIP +ContextModule and +TemporalEmbeddings: layers of attention over the ten images of a set."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from predictions.scorers.context_module import (
    BASE,
    FAMILY,
    HEAD,
    SHAPE,
    VIDEO,
    WEIGHTS_OF_BASE,
    make_module,
    weights_of,
)
from training.batches import Batch
from training.checkpoints import write_file
from training.errors import CannotTrain
from training.examples import Example
from training.recipes.base import BatchSize, Epochs, Precision, Recipe, Saved, Trainable
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

SCRIPT = COMMAND.format("contextual.py")
CONFIG = "Source: vilbert-and-bert-config.json beside it"


class ContextModule(Recipe):
    """Krojer et al. 2022, section 5.2: attention over the images of a set, on CLIP, which stays as it is.

    Begin with the model that `imagecode-context-batch` trained, as the authors did.
    """

    name = "imagecode-context-module"
    title = "CLIP +ContextModule"
    version = "1"
    source = f"{PAPER}, section 5.2; code: baselines/clip/contextual.py in McGill-NLP/imagecode"
    needs = NEEDS
    measures = ACCURACY
    departures: ClassVar[Sequence[str]] = (
        "The layers are those of torch, which also drop out between the two linear layers of each.",
        "The layers begin with the same random numbers, Xavier's for attention; the authors' each with others.",
        "The last batch of an epoch is a step of its own; the authors add its gradients to the next epoch's first.",
        "Computed in 32 bits; the authors compute in 16.",
        "Nothing is dropped out in validation; the authors' script leaves dropout on there.",
        VALIDATION,
    )
    has_places: ClassVar[bool] = False
    optimizer = "adam"

    batch: BatchSize = Field(default=36, description=f"Descriptions per step, with ten images each. {SCRIPT}.")
    epochs: Epochs = Field(default=30, description=f"{SCRIPT}.")
    learning_rate: float = Field(default=1e-4, gt=0, description=f"Of the module; CLIP is frozen. {SCRIPT}.")
    warmup_steps: int = Field(default=0, ge=0, description=f"{SCRIPT}: none.")
    schedule: Literal["cosine", "constant"] = Field(default="constant", description=f"{SCRIPT}: none.")
    weight_decay: float = Field(default=0.2, ge=0, description=f"In Adam's gradients. {SCRIPT}.")
    beta1: float = Field(default=0.9, gt=0, lt=1, description=f"{SCRIPT}.")
    beta2: float = Field(default=0.98, gt=0, lt=1, description=f"{SCRIPT}.")
    epsilon: float = Field(default=1e-6, gt=0, description=f"{SCRIPT}.")
    precision: Precision = Field(default="float32", description="Of matrix products; see the departures.")
    layers: int = Field(default=2, ge=1, le=100, description=f"{SCRIPT}.")
    heads: int = Field(default=8, ge=1, le=1024, description=f"Of attention. {SCRIPT}.")
    intermediate: int = Field(default=3072, ge=1, le=65_536, description=f"Width of the layers' inner part. {CONFIG}.")
    dropout: float = Field(default=0.1, ge=0, lt=1, description=f"{CONFIG}.")
    scale: float = Field(default=1000.0, gt=0, description=f"What products of vectors are multiplied with. {SCRIPT}.")

    def accepts(self, example: Example) -> bool:
        return is_of_image_set(example)

    def load(self, base: str, seed: int, device: str = "") -> "SetsInContext":
        import torch

        towers = load_towers(base, self.families, device)
        if towers.vector_length % self.heads:
            fitting = [heads for heads in range(1, 17) if not towers.vector_length % heads]
            raise CannotTrain(
                f"The {towers.vector_length} numbers of a vector cannot be shared by {self.heads} heads. Use the "
                f"option heads={fitting[-1]}, for instance."
            )
        shape: dict[str, Any] = {
            **{"length": towers.vector_length, "layers": self.layers, "heads": self.heads},
            **{"intermediate": self.intermediate, "dropout": self.dropout, "scale": self.scale},
            "has_places": self.has_places,
        }
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            module = make_module(**shape)
        return SetsInContext(towers, module.to(towers.device), shape=shape)


class Temporal(ContextModule):
    """The context module with an embedding of each place in a video; sets of static images have none (section 5.3)."""

    name = "imagecode-temporal"
    title = "CLIP +TemporalEmbeddings"
    source = f"{PAPER}, section 5.3; code: baselines/clip/contextual.py in McGill-NLP/imagecode"
    has_places: ClassVar[bool] = True


@dataclass
class SetsInContext(Trainable):
    """A context module on frozen towers. `shape`: what makes the module."""

    is_frozen: bool = True
    shape: Mapping[str, Any] = field(default_factory=dict)

    def batch(self, examples: Sequence[Example], rng: random.Random) -> Batch:
        return batch_of_sets(examples)

    def losses(self, batch: Batch, images: Any, texts: Any) -> dict[str, Any]:
        """Return the sum over the batch, as the authors add up gradients; Adam's weight decay depends on its size."""
        from torch.nn.functional import cross_entropy

        logits = self._logits(batch, images, texts)
        return {"cross-entropy": cross_entropy(logits, targets_of(batch, logits.device), reduction="sum")}

    def validation_batch(self, examples: Sequence[Example]) -> Batch:
        return batch_of_sets(examples)

    def outcomes(self, batch: Batch, images: Any, texts: Any) -> Sequence[bool]:
        return right_targets(batch, self._logits(batch, images, texts))

    def parameter_groups(self, recipe: Any) -> list[dict[str, Any]]:
        return [{"params": list(self.head.parameters()), "weight_decay": recipe.weight_decay}]

    @property
    def modules(self) -> Mapping[str, Any]:
        return {"head": self.head}

    def weights(self) -> Mapping[str, Any]:
        return weights_of(self.head, self.towers.identity.weights)

    def save(self, folder: Path, name: str) -> Saved:
        path = folder / f"{name}.pt"
        known = {BASE: self.towers.spec, WEIGHTS_OF_BASE: self.towers.identity.weights, SHAPE: dict(self.shape)}
        write_file(path, {**known, HEAD: self.head.state_dict()})
        return Saved(path, f"{FAMILY}:{VIDEO if self.shape['has_places'] else ''}{path}")

    def _logits(self, batch: Batch, images: Any, texts: Any) -> Any:
        import torch

        ordered = torch.tensor([float(example.ordered) for example in batch.examples], device=texts.device)
        return self.head(*vectors_of_sets(images, texts), ordered)

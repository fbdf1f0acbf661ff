"""What is trained, how far it is, and what came of it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import ConfigDict


@dataclass(frozen=True, slots=True)
class Plan:
    """A training.

    `recipe`: its name in `training.recipes`; `options`: values of the recipe's fields that differ from the paper's.
    `base`: the spec of the model to begin with, as for predictions (`predictions.scorers`), such as
    `open_clip:ViT-B-32/openai` or `hf:openai/clip-vit-base-patch32`. `name`: of the trained model, the name of its
    file. `device`: "" for the first visible GPU, else the CPU; or a device of torch, such as "cpu" or "cuda:1".
    `checkpoint_steps`, `checkpoint_minutes`: steps and time between two checkpoints, whichever is shorter; longer if
    writing them would take more than a tenth of the time. At most as much is lost.
    """

    # Where one is read from a file.
    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    recipe: str
    base: str
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    device: str = ""
    checkpoint_steps: int = 200
    checkpoint_minutes: float = 10.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a training is.

    `step` of `steps`. `losses`: parts of the loss by name, and their sum as "loss"; none before the first step.
    `score`, `best`: the last and the best score on the validation set, 0 to 1; None before the first. `seconds_left`:
    None before it can be told. `peak_memory`: the most memory of the device that was in use, in bytes. A batch of
    `batch` examples is computed in `parts`, whose gradients are added up. `sentences`: what people should know, since
    the last report. `phase`: what it does between steps and how far that is, such as "validating, 64 of 500 examples";
    "" for steps.
    """

    step: int
    steps: int
    losses: Mapping[str, float]
    score: float | None
    best: float | None
    seconds_left: float | None
    peak_memory: int
    batch: int
    parts: int
    sentences: Sequence[str] = ()
    phase: str = ""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A point of the curves: the losses of a step by name, or the validation score after it."""

    step: int
    losses: Mapping[str, float] = field(default_factory=dict)
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A trained model.

    `path`: its checkpoint, a file or a folder. `spec`: the name by which predictions load it. `weights`: the identity
    of its weights, as predictions tell it (`ModelIdentity.weights`). `score`: the best score on the validation set, 0
    to 1, reached after step `best_step`; None without a validation set, and then it is the model after the last step.
    `recipe_version`: of the recipe. `options`: the values of all its fields. `base_weights`: the identity of the
    weights that training began with; "" where an earlier version did not note it.
    """

    path: str
    spec: str
    weights: str
    score: float | None
    best_step: int
    steps: int
    curve: Sequence[CurvePoint]
    recipe_version: str
    options: Mapping[str, Any]
    libraries: Mapping[str, str]
    hardware: str
    seed: int
    sentences: Sequence[str] = ()
    base_weights: str = ""

"""Interface of recipes: how a paper trained its model. Pure.

Heavy libraries are imported inside functions, because the site imports this folder too.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from making.options import Options
from predictions.feeder import OpenPicture
from training.batches import Batch, Tell, tell_nobody
from training.examples import Example
from training.towers import Towers

LARGEST = 1e30
Precision = Literal["float32", "float16", "bfloat16"]
# More would be a mistake, and steps would be too many to count in the database.
BatchSize = Annotated[int, Field(ge=1, le=65_536)]
Epochs = Annotated[int, Field(ge=1, le=1000)]


class Recipe(Options, ABC):
    """How a paper trained its model; the fields are its hyper-parameters, with the paper's values.

    `version`: a change of what it trains gets the next. `source`: paper, and where it tells the values. `families`: of
    base models (`predictions.scorers`). `needs`: what an example must have, as the end of a sentence. `measures`: what
    the validation score is. `departures`: what is done in another way than in the paper, as sentences.
    """

    # Neither a database nor a page can hold infinity.
    model_config = ConfigDict(allow_inf_nan=False)

    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[str]
    source: ClassVar[str]
    families: ClassVar[Sequence[str]] = ("open_clip", "hf")
    needs: ClassVar[str]
    measures: ClassVar[str]
    departures: ClassVar[Sequence[str]] = ()
    # Adam's weight decay is part of the gradients, AdamW's is not.
    optimizer: ClassVar[Literal["adam", "adamw"]] = "adamw"
    # Whether the last batch of an epoch is trained on too if it is smaller.
    keeps_small_batch: ClassVar[bool] = True

    batch: BatchSize
    epochs: Epochs
    learning_rate: float = Field(gt=0)
    warmup_steps: int = Field(ge=0)
    schedule: Literal["cosine", "constant"]
    weight_decay: float = Field(ge=0)
    beta1: float = Field(gt=0, lt=1)
    beta2: float = Field(gt=0, lt=1)
    epsilon: float = Field(gt=0)
    precision: Precision
    patience: int = Field(
        default=0,
        ge=0,
        description="Epochs without a better validation score after which training stops; 0 for never. Not in the "
        "paper. The model with the best score is kept either way.",
    )

    @field_validator("*")
    @classmethod
    def _fits(cls, value: Any) -> Any:
        """Refuse numbers that torch cannot hold in 32 bits."""
        if isinstance(value, float) and value > LARGEST:
            raise PydanticCustomError("too_large", "Input should be at most {largest}", {"largest": f"{LARGEST:g}"})
        return value

    @abstractmethod
    def accepts(self, example: Example) -> bool:
        """Return whether the recipe can train on an example."""

    @abstractmethod
    def load(self, base: str, seed: int, device: str = "") -> "Trainable":
        """Return the model that the spec `base` names, ready to be trained. Raises CannotTrain.

        `seed`: of what begins at random; `device`: see `Plan`.
        """


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved model: its file or folder, and its spec for predictions."""

    path: Path
    spec: str


@dataclass
class Trainable(ABC):
    """A model that a recipe trains. `towers` embed images and texts; `head`: what the recipe puts on them, if anything.

    Tensors are on the device of the towers. `is_frozen`: the towers stay as they are.
    """

    towers: Towers
    head: Any = None
    is_frozen: bool = False
    sentences: list[str] = field(default_factory=list)

    def prepare(  # noqa: B027 (few need it)
        self, examples: Sequence[Example], open_picture: OpenPicture, tell: Tell = tell_nobody
    ) -> None:
        """Get ready for these training examples, before the first step and when training goes on.

        Calls `tell` every few seconds, which may raise TrainingCancelled. Raises CannotTrain.
        """

    def opener(self, open_picture: OpenPicture) -> OpenPicture:
        """Return what opens the images of batches, whose names may be of the recipe's own making."""
        return open_picture

    @abstractmethod
    def batch(self, examples: Sequence[Example], rng: random.Random) -> Batch:
        """Return what to train on for these examples; `rng` draws what the paper draws at random."""

    @abstractmethod
    def losses(self, batch: Batch, images: Any, texts: Any) -> Mapping[str, Any]:
        """Return the parts of the loss by name, as tensors of one number, whose sum is to be small.

        images, texts: the vectors of the images and texts of the batch, in rows; of any length.
        """

    @abstractmethod
    def validation_batch(self, examples: Sequence[Example]) -> Batch:
        """Return the images and texts that must be embedded to validate on these examples."""

    @abstractmethod
    def outcomes(self, batch: Batch, images: Any, texts: Any) -> Sequence[bool]:
        """Return for each question of a validation batch whether the model answers it correctly."""

    @abstractmethod
    def parameter_groups(self, recipe: Any) -> list[dict[str, Any]]:
        """Return the parameters to train, as optimisers of torch take them."""

    def after_step(self) -> None:  # noqa: B027 (few need it)
        """Put parameters back into their bounds."""

    @abstractmethod
    def save(self, folder: Path, name: str) -> Saved:
        """Write the model where predictions can load it from."""

    def weights(self) -> Mapping[str, Any]:
        """Return the tensors whose digest is the identity of the model for predictions."""
        state: Mapping[str, Any] = self.towers.model.state_dict()
        return state

    @property
    def modules(self) -> Mapping[str, Any]:
        """Return the modules of torch whose numbers make up the model, by name."""
        return {"towers": self.towers.model} | ({} if self.head is None else {"head": self.head})

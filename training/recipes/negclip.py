"""NegCLIP: contrastive fine-tuning with hard negative captions and hard negative images."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from predictions.feeder import OpenPicture
from training.batches import Batch, Tell, embed_in_order, tell_nobody
from training.examples import Example
from training.recipes.base import BatchSize, Epochs, Precision, Recipe
from training.recipes.contrastive import RIGHT_CAPTION, NegativeCaptions, has_negative_captions
from training.towers import load_towers

COMMAND = "Source: the command in the README of mertyg/vision-language-models-are-bows."
PARAMS = "Source: the default for ViT in vinid/neg_clip, src/training/params.py, which the authors' command leaves."
# Rows compared at once in the search for nearest images.
COMPARED = 256


class NegCLIP(Recipe):
    """Yuksekgonul et al. 2023, "When and why vision-language models behave like bags-of-words".

    A batch has each example's image and caption, and those of one of the images nearest to it; and of both one negative
    caption, drawn anew in each epoch, which no image may choose (section 4; README of vinid/neg_clip).
    """

    name = "negclip"
    title = "NegCLIP"
    version = "1"
    source = "Yuksekgonul et al. 2023, section 4; code: vinid/neg_clip"
    needs = "an image, its caption, and at least one negative caption"
    measures = RIGHT_CAPTION
    departures: ClassVar[Sequence[str]] = (
        "Images are cropped as for predictions; OpenCLIP's training crops at random between 90 and 100 % of them.",
        "The model with the best validation score is kept; the paper chose among learning rates by retrieval on COCO.",
    )
    keeps_small_batch = False

    batch: BatchSize = Field(
        default=256,
        ge=2,
        description=f"Examples per step, with 2 images and 4 texts each. {COMMAND}",
    )
    epochs: Epochs = Field(default=5, description=COMMAND)
    learning_rate: float = Field(default=1e-6, gt=0, description=f"The highest, after warming up. {COMMAND}")
    warmup_steps: int = Field(default=50, ge=0, description=COMMAND)
    schedule: Literal["cosine", "constant"] = Field(default="cosine", description=PARAMS)
    weight_decay: float = Field(default=0.2, ge=0, description=f"Not of norms and biases. {PARAMS}")
    beta1: float = Field(default=0.9, gt=0, lt=1, description=PARAMS)
    beta2: float = Field(default=0.98, gt=0, lt=1, description=PARAMS)
    epsilon: float = Field(default=1e-6, gt=0, description=PARAMS)
    precision: Precision = Field(default="float16", description=f"Of matrix products on a GPU. {PARAMS}")
    nearest: int = Field(
        default=3,
        ge=0,
        description="How many nearest images one is drawn from to stand beside each image; 0 for none. Source: the "
        "three of each row in the authors' file (ARO's train_neg_clip.tsv).",
    )

    def accepts(self, example: Example) -> bool:
        return has_negative_captions(example)

    def load(self, base: str, seed: int, device: str = "") -> "NearestImages":
        return NearestImages(load_towers(base, self.families, device), nearest=self.nearest)


@dataclass
class NearestImages(NegativeCaptions):
    """Negative captions, and beside each image one of those nearest to it. `nearest`: how many it is drawn from."""

    nearest: int = 0
    _examples: Sequence[Example] = ()
    # Name of an image -> numbers of the examples with the images nearest to it.
    _near: dict[str, Sequence[int]] = field(default_factory=dict)

    def prepare(self, examples: Sequence[Example], open_picture: OpenPicture, tell: Tell = tell_nobody) -> None:
        """Find the nearest images of each image, by the cosines of the base model."""
        if not self.nearest:
            return
        first: dict[str, int] = {}
        for number, example in enumerate(examples):
            first.setdefault(example.images[0], number)
        names = list(first)
        nearest = nearest_rows(embed_in_order(self.towers, names, open_picture, tell), self.nearest, tell)
        self._near = {name: [first[names[row]] for row in rows] for name, rows in zip(names, nearest, strict=True)}
        self._examples = examples

    def batch(self, examples: Sequence[Example], rng: random.Random) -> Batch:
        drawn = [rng.choice(near) for example in examples if (near := self._near.get(example.images[0]))]
        beside = [self._examples[number] for number in drawn]
        return super().batch([*examples, *beside], rng)

    def after_step(self) -> None:
        self.towers.clamp_logit_scale()


def nearest_rows(vectors: NDArray[np.float32], count: int, tell: Tell = tell_nobody) -> list[list[int]]:
    """Return for each row the numbers of the `count` other rows with the highest cosines, the nearest first.

    vectors: rows of length 1. Fewer where there are fewer rows; of equal ones the first.
    """
    found: list[list[int]] = []
    most = min(count, len(vectors) - 1)
    for begin in range(0, len(vectors), COMPARED):
        cosines = vectors[begin : begin + COMPARED] @ vectors.T
        for row, line in enumerate(cosines, start=begin):
            line[row] = -np.inf
            best: Iterable[int] = np.argpartition(-line, most - 1)[:most] if most else []
            found.append(sorted(map(int, best), key=lambda other: (-line[other], other)))
        tell("finding nearest images", len(found), len(vectors), "images")
    return found

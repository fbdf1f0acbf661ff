"""Code shared by recipes that fine-tune both towers: parameters, validation on pairs, the saved model. Pure."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from analytics.scores import outcomes_of_scores, right_choices
from training.batches import Batch
from training.examples import Example
from training.losses import contrastive_loss, normalized
from training.recipes.base import Saved, Trainable

RIGHT_CAPTION = (
    "The share of instances whose caption scores strictly higher with the image than all negative ones (ARO)"
)
GROUP = "The share of instances whose two images and two captions all find each other (Group score of BiVLC)"


@dataclass
class TwoTowers(Trainable):
    """Both towers are trained, and nothing else. `images_used`: how many images of an instance are looked at."""

    images_used: ClassVar[int] = 1

    def parameter_groups(self, recipe: Any) -> list[dict[str, Any]]:
        """Return two groups, as OpenCLIP makes them: norms, biases and the scale of logits do not decay."""
        plain: list[Any] = []
        others: list[Any] = []
        for name, parameter in self.towers.model.named_parameters():
            if parameter.requires_grad:
                (others if _keeps_its_size(name, parameter) else plain).append(parameter)
        return [{"params": others, "weight_decay": 0.0}, {"params": plain, "weight_decay": recipe.weight_decay}]

    def validation_batch(self, examples: Sequence[Example]) -> Batch:
        images = [name for example in examples for name in example.images[: self.images_used]]
        return Batch(examples, images, [text for example in examples for text in example.captions])

    def outcomes(self, batch: Batch, images: Any, texts: Any) -> Sequence[bool]:
        cosines = (normalized(images.double()) @ normalized(texts.double()).T).cpu().numpy()
        found: list[bool] = []
        row = column = 0
        for example in batch.examples:
            pictures, captions = len(example.images[: self.images_used]), len(example.captions)
            found.append(_is_right(cosines[row : row + pictures, column : column + captions]))
            row, column = row + pictures, column + captions
        return found

    def save(self, folder: Path, name: str) -> Saved:
        return Saved(*self.towers.save(folder, name))


@dataclass
class NegativeCaptions(TwoTowers):
    """CLIP's loss with a negative caption of each example, drawn anew in each epoch, which no image may choose."""

    def batch(self, examples: Sequence[Example], rng: random.Random) -> Batch:
        captions = [example.captions[0] for example in examples]
        negative = [rng.choice(example.captions[1:]) for example in examples]
        return Batch(examples, [example.images[0] for example in examples], [*captions, *negative])

    def losses(self, batch: Batch, images: Any, texts: Any) -> dict[str, Any]:
        return {"contrastive": contrastive_loss(normalized(images), normalized(texts), self.towers.logit_scale)}


def has_negative_captions(example: Example) -> bool:
    """Tell whether an example has an image, its caption, and a negative one at least."""
    return len(example.images) in (1, 2) and len(example.captions) >= 2 and example.target is None


def _keeps_its_size(name: str, parameter: Any) -> bool:
    return parameter.ndim < 2 or "bn" in name or "ln" in name or "bias" in name or "logit_scale" in name


def _is_right(cosines: Any) -> bool:
    """Tell whether a matrix images x texts finds the right ones: of the first image the first text, and so on."""
    if len(cosines) == 2:
        return bool(outcomes_of_scores(cosines[None, :, :2]).group[0])
    return bool(right_choices(np.atleast_2d(cosines), 0)[0])

"""Code shared by recipes that find one of the ten images of a set by a description. Pure."""

import random
from collections.abc import Sequence
from typing import Any

from analytics.scores import right_choices
from studies.descriptions import SET_SIZE
from training.batches import Batch
from training.examples import Example
from training.losses import normalized

PAPER = "Krojer et al. 2022 (ImageCoDe)"
COMMAND = "Source: baselines/README.md and baselines/clip/{} in McGill-NLP/imagecode"
NEEDS = "a set of ten images and a description of one of them"
ACCURACY = "The share of descriptions whose image scores strictly higher than the nine others (accuracy of ImageCoDe)"


VALIDATION = (
    "The authors' script does not validate after the last epoch, and of equal scores it takes the first image; here "
    "every epoch is validated, and a tie is wrong."
)


def is_of_image_set(example: Example) -> bool:
    """Tell whether an example is a description of one of ten images."""
    return len(example.images) == SET_SIZE and example.target is not None and len(example.captions) == 1


def batch_of_sets(examples: Sequence[Example], rng: random.Random | None = None) -> Batch:
    """Return a batch with all images of each set, in order, and one description each."""
    images = [name for example in examples for name in example.images]
    return Batch(examples, images, [example.captions[0] for example in examples])


def vectors_of_sets(images: Any, texts: Any) -> tuple[Any, Any]:
    """Return vectors of length 1 of a batch of sets: shapes (n, 10, d) and (n, d)."""
    return normalized(images).reshape(len(texts), SET_SIZE, -1), normalized(texts)


def targets_of(batch: Batch, device: Any) -> Any:
    """Return the index of the described image of each set."""
    import torch

    return torch.tensor([example.target for example in batch.examples], device=device)


def right_targets(batch: Batch, scores: Any) -> Sequence[bool]:
    """Tell for each set whether the described image has the strictly highest score; scores: shape (n, 10)."""
    targets = [example.target or 0 for example in batch.examples]
    found: list[bool] = right_choices(scores.double().cpu().numpy(), targets).tolist()
    return found

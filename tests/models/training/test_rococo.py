"""RoCOCO's losses by hand, and images that are mixed in a batch."""

import math
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from evaluation.alterations import mix_images
from predictions.scorers import scorer_of
from tests.models.training.conftest import drawn
from training.examples import Example
from training.loop import CannotTrain, Plan, train
from training.losses import normalized, own_negatives_loss
from training.recipes import get_recipe
from training.recipes.rococo import OwnNegatives, RoCOCO

EXAMPLES, PICTURES = drawn(2)
ONE_IMAGE = [Example(one.instance, one.images[:1], one.captions) for one in EXAMPLES]


def load(base: str, **options: float) -> OwnNegatives:
    return RoCOCO(**options).load(base, 0, "cpu")  # type: ignore[arg-type]


def test_four_examples_by_hand() -> None:
    """Cosines with the right and the wrong one: 1 and 0, 0 and 1, -1 and 1, and twice the same."""
    axes = torch.eye(2)
    vectors, right = axes[[0, 0, 0, 0]], torch.stack([axes[0], axes[1], -axes[0], axes[0]])
    wrong = torch.stack([axes[1], axes[0], axes[0], axes[0]])
    terms = [math.log(1 + math.exp(3 * gap)) for gap in (-1, 1, 2, 0)]
    loss = own_negatives_loss(vectors, right, wrong, torch.tensor(3.0))
    assert loss.item() == pytest.approx(sum(terms) / 4, abs=1e-6)


def test_gradients_are_those_of_differences() -> None:
    torch.manual_seed(1)
    given = [torch.randn(4, 3, dtype=torch.float64).requires_grad_() for _ in range(3)]
    scale = torch.tensor(2.0, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda vectors, right, wrong, scale: own_negatives_loss(
            normalized(vectors), normalized(right), normalized(wrong), scale
        ),
        [*given, scale],
    )


def test_each_example_brings_a_mixed_image_and_an_altered_caption(base: str) -> None:
    trainable = load(base)
    batch = trainable.batch([*ONE_IMAGE[:3], EXAMPLES[3]], random.Random(0))
    assert list(batch.images[:4]) == [one.images[0] for one in EXAMPLES[:4]]
    # One that has an altered image keeps it; the others are mixed with that of another example.
    assert batch.images[7] == EXAMPLES[3].images[1]
    assert list(batch.texts) == [one.captions[side] for side in (0, 1) for one in EXAMPLES[:4]]
    opened = trainable.opener(PICTURES.__getitem__)
    first, other = batch.images[4].split("\n")
    assert first == EXAMPLES[0].images[0] != other
    expected = mix_images(PICTURES[first], PICTURES[other])
    assert np.array_equal(np.asarray(opened(batch.images[4])), np.asarray(expected))
    assert opened(first) is PICTURES[first]


def test_the_losses_of_four_examples_by_hand(base: str) -> None:
    """All vectors are on three axes, so every cosine is 1, 0 or -1; the scale is 2."""
    trainable = load(base)
    with torch.no_grad():
        trainable.towers.model.logit_scale.fill_(math.log(2))
    x, y, z = torch.eye(16)[:3]
    images = torch.stack([x, y, -x, -y, z, z, y, z])
    # The second caption is not that of its image.
    texts = torch.stack([x, z, -x, -y, x, z, z, x]) * 2
    batch = trainable.batch(ONE_IMAGE[:4], random.Random(0))
    found = {name: loss.item() for name, loss in trainable.losses(batch, images, texts).items()}
    up, down = math.exp(2), math.exp(-2)
    # Images among captions: (1, 0, -1, 0), (0, 0, 0, -1), (-1, 0, 1, 0), (0, 0, 0, 1).
    of_images = 2 * (math.log(up + down + 2) - 2) + math.log(3 + down) + math.log(up + 3) - 2
    # Captions among images: (1, 0, -1, 0), (0, 0, 0, 0), (-1, 0, 1, 0), (0, -1, 0, 1).
    of_captions = 3 * (math.log(up + down + 2) - 2) + math.log(4)
    # The altered one less the right one. Of images: 1 - 1, 0 - 0, 0 - 1, 0 - 1; of captions: 0 - 1, 1 - 0, 0 - 1 twice.
    semantic, visual = (
        sum(math.log(1 + math.exp(2 * gap)) for gap in gaps) / 4 for gaps in ((0, 0, -1, -1), (-1, 1, -1, -1))
    )
    expected = {"contrastive": (of_images + of_captions) / 8, "semantic": semantic, "visual": visual}
    assert found == pytest.approx(expected, abs=1e-6)


def test_the_weights_of_the_losses(base: str) -> None:
    torch.manual_seed(1)
    images, texts = torch.randn(4, 16), torch.randn(4, 16)
    plain, weighted = load(base), load(base, semantic=0.5, visual=3.0)
    batch = plain.batch(ONE_IMAGE[:2], random.Random(0))
    one, other = (each.losses(batch, images, texts) for each in (plain, weighted))
    assert other["semantic"].item() == pytest.approx(0.5 * one["semantic"].item())
    assert other["visual"].item() == pytest.approx(3 * one["visual"].item())
    assert other["contrastive"].item() == one["contrastive"].item()


def test_a_tiny_model_gets_better(base: str, folder: Path) -> None:
    options = {"batch": 7, "epochs": 10, "learning_rate": 2e-3, "warmup_steps": 3}
    plan = Plan("rococo", base, "robust", options, device="cpu")
    result = train(plan, ONE_IMAGE, ONE_IMAGE, PICTURES.__getitem__, folder, lambda progress: None)
    parts = [point.losses for point in result.curve if point.losses]
    assert parts[0].keys() == {"contrastive", "semantic", "visual", "loss"}
    assert np.mean([point["loss"] for point in parts[-2:]]) < 0.8 * parts[0]["loss"]
    assert scorer_of(result.spec).identity.weights == result.weights


def test_one_example_cannot_be_mixed(base: str, folder: Path) -> None:
    with pytest.raises(CannotTrain, match="there is only one"):
        train(Plan("rococo", base, "a"), ONE_IMAGE[:1], [], PICTURES.__getitem__, folder, lambda progress: None)
    assert get_recipe("rococo").departures

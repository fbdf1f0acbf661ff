"""The models of BiVLC's paper: their batches and losses, and detectors that predictions load."""

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from open_clip.loss import ClipLoss

from predictions.scorers import CannotLoad, scorer_of
from tests.models.training.conftest import drawn
from training.examples import Example
from training.loop import Plan, Result, recipe_of, train
from training.losses import normalized

EXAMPLES, PICTURES = drawn(2)
PAIR = Example("1", ("i0", "i1"), ("t0", "t1"))
OTHER = Example("2", ("j0", "j1"), ("u0", "u1"))
QUICK = {"batch": 14, "learning_rate": 2e-3, "warmup_steps": 5}


def run(recipe: str, base: str, folder: Path, examples: list[Example], **options: Any) -> Result:
    plan = Plan(recipe, base, recipe, QUICK | options, device="cpu")
    return train(plan, examples, examples, PICTURES.__getitem__, folder, lambda progress: None)


@pytest.mark.parametrize(
    ("recipe", "images", "texts"),
    [
        ("trohn-text", ["i0", "j0"], ["t0", "u0", "t1", "u1"]),
        ("trohn-img", ["i0", "j0", "i1", "j1"], ["t0", "u0", "t1", "u1"]),
        ("detector-text", [], ["t0", "u0", "t1", "u1"]),
        ("detector-image", ["i0", "j0", "i1", "j1"], []),
    ],
)
def test_batches(recipe: str, images: list[str], texts: list[str], base: str) -> None:
    batch = recipe_of(Plan(recipe, base, "model")).load(base, 0, "cpu").batch([PAIR, OTHER], random.Random(0))
    assert (list(batch.images), list(batch.texts)) == (images, texts)


def test_the_loss_of_two_images_and_two_texts_is_openclips(base: str) -> None:
    trainable = recipe_of(Plan("trohn-img", base, "model")).load(base, 0, "cpu")
    torch.manual_seed(1)
    images, texts = torch.randn(4, 16), torch.randn(4, 16)
    (loss,) = trainable.losses(trainable.batch([PAIR, OTHER], random.Random(0)), images, texts).values()
    expected = ClipLoss()(normalized(images), normalized(texts), trainable.towers.logit_scale)
    assert loss.item() == pytest.approx(expected.item())


def test_a_detectors_loss_and_outcomes_on_four_examples_by_hand(base: str) -> None:
    trainable = recipe_of(Plan("detector-text", base, "model")).load(base, 0, "cpu")
    # A layer that adds up the first two numbers, and 1.
    with torch.no_grad():
        trainable.head.weight.copy_(torch.tensor([[1.0, 1.0, *[0.0] * 14]]))
        trainable.head.bias.fill_(1.0)
    texts = torch.zeros(8, 16)
    texts[:, :2] = torch.tensor([[-3, 0], [0, -1], [-1, 1], [-2, 3], [2, -1], [-1, -1], [-4, 1], [0, 0]])
    batch = trainable.batch([PAIR, OTHER, PAIR, OTHER], random.Random(0))
    # Log-odds of being synthetic: -2, 0, 1, 2 of the natural ones, and 2, -1, -2, 1 of the synthetic ones.
    terms = [math.log1p(math.exp(odds)) for odds in (-2, 0, 1, 2, -2, 1, 2, -1)]
    assert trainable.losses(batch, None, texts)["cross-entropy"].item() == pytest.approx(sum(terms) / 8, abs=1e-6)
    # Odds of 1 round to natural.
    assert list(trainable.outcomes(batch, None, texts)) == [True, True, False, False, True, False, False, True]


@pytest.mark.parametrize("recipe", ["detector-text", "detector-image"])
def test_gradients_of_a_detector_are_those_of_differences(recipe: str, base: str) -> None:
    trainable = recipe_of(Plan(recipe, base, "model")).load(base, 0, "cpu")
    trainable.head.double()
    batch = trainable.batch([PAIR, OTHER, PAIR, OTHER], random.Random(0))
    torch.manual_seed(1)
    vectors = torch.randn(8, 16, dtype=torch.float64, requires_grad=True)

    def loss(vectors: Any, *weights: Any) -> Any:
        seen = (None, vectors) if recipe == "detector-text" else (vectors, None)
        return trainable.losses(batch, *seen)["cross-entropy"]

    # The numbers of the layer are changed where they are.
    assert torch.autograd.gradcheck(loss, [vectors, *trainable.head.parameters()])


def test_two_images_and_two_texts_find_each_other_better_than_before(base: str, folder: Path) -> None:
    """Pairs of scenes that have nothing to do with each other, which such a small model can tell apart."""
    apart = [
        Example(one.instance, (one.images[0], other.images[0]), (one.captions[0], other.captions[0]))
        for one, other in zip(EXAMPLES, [*EXAMPLES[1:], EXAMPLES[0]], strict=True)
    ]
    result = run("trohn-img", base, folder, apart, epochs=14, learning_rate=1e-3, warmup_steps=3)
    scorer = scorer_of(base)
    pairs = [(text, name) for one in apart for text in one.captions for name in one.images]
    before = np.array(scorer.score(pairs, PICTURES.__getitem__), dtype=float).reshape(-1, 2, 2)
    start = np.mean([(a > b) & (d > c) & (a > c) & (d > b) for (a, b), (c, d) in before])
    assert result.score is not None
    assert result.score >= start + 0.5


def test_a_detector_of_texts_finds_what_was_added_and_predictions_load_it(base: str, folder: Path) -> None:
    """Captions with something added are longer: the texts alone give them away."""
    added = [one for one in EXAMPLES if one.type == "add"]
    result = run("detector-text", base, folder, added, epochs=40, learning_rate=0.3, warmup_steps=0)
    assert result.score is not None
    assert result.score > 0.9
    assert result.spec == f"text-only:detector:{folder / 'detector-text.pt'}"
    scorer = scorer_of(result.spec)
    assert scorer.identity.weights == result.weights
    texts = [text for one in added for text in one.captions]

    def never(name: str) -> Any:
        raise AssertionError

    scores = np.array(scorer.score([(text, "an image") for text in texts], never), dtype=float).reshape(-1, 2)
    assert result.score == pytest.approx(np.mean((scores > 0) == [True, False]))
    assert scorer.pictures_per_second() > 0


def test_a_detector_of_texts_stays_at_chance_where_texts_say_nothing(base: str, folder: Path) -> None:
    """Refined data: each caption is as often negative as not, so no text gives itself away."""
    both = [Example(f"{one.instance} {way}", one.images, one.captions[::way]) for one in EXAMPLES for way in (1, -1)]
    result = run("detector-text", base, folder, both, epochs=20, learning_rate=0.1, warmup_steps=0)
    assert result.score == 0.5


def test_a_detector_of_images_sees_noise(base: str, folder: Path) -> None:
    """Synthetic images are darker."""
    pictures = dict(PICTURES)
    for one in EXAMPLES:
        pictures[one.images[1]] = PICTURES[one.images[0]].point(lambda level: level // 4)
    plan = Plan(
        "detector-image", base, "dark", QUICK | {"epochs": 40, "learning_rate": 0.3, "warmup_steps": 0}, 0, "cpu"
    )
    result = train(plan, EXAMPLES, EXAMPLES, pictures.__getitem__, folder, lambda progress: None)
    assert result.score is not None
    assert result.score > 0.9
    scorer = scorer_of(result.spec)
    pairs = [("a text", name) for one in EXAMPLES for name in one.images]
    scores = np.array(scorer.score(pairs, pictures.__getitem__), dtype=float).reshape(-1, 2)
    assert result.score == pytest.approx(np.mean((scores > 0) == [True, False]))
    with pytest.raises(CannotLoad, match=rf"is a detector of the image\. Write image-only:detector:{folder}"):
        scorer_of(f"text-only:detector:{folder / 'dark.pt'}")


def test_a_detector_stands_on_the_weights_that_it_was_trained_on(base: str, folder: Path) -> None:
    from tests.models.test_open_clip import save_open_clip

    file = save_open_clip(folder.parent / "base")
    result = run("detector-text", f"open_clip:tiny-test/{file}", folder, list(EXAMPLES[:4]), epochs=1)
    state = torch.load(file, weights_only=True)["state_dict"]
    state["logit_scale"] += 0.5
    torch.save(state, file)
    with pytest.raises(CannotLoad, match="whose weights are others now"):
        scorer_of(result.spec)

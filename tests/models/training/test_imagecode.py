"""ImageCoDe's models: losses by hand, sets of drawn images, and a context module that predictions load."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from predictions.scorers import CannotLoad, NoPicture, scorer_of
from predictions.scorers.context_module import make_module
from training.batches import Batch
from training.examples import Example
from training.loop import Plan, recipe_of, train
from training.recipes.base import Trainable

COLOURS = ["red", "orange", "yellow", "green", "blue", "purple", "pink", "white", "grey", "black"]
PICTURES = {colour: Image.new("RGB", (48, 48), colour) for colour in COLOURS}
SMALL = {"layers": 1, "heads": 2, "intermediate": 16}


def sets(seed: int = 1, *, ordered: bool = False) -> list[Example]:
    """Return sets of ten plain images in random orders; each description names the colour of its target."""
    rng, found = random.Random(seed), []
    for number in range(12):
        order = rng.sample(COLOURS, 10)
        target = rng.randrange(10)
        found.append(Example(str(number), tuple(order), (f"a {order[target]} image",), target, ordered=ordered))
    return found


def test_the_loss_of_a_set_by_hand(base: str) -> None:
    trainable = recipe_of(Plan("imagecode-context-batch", base, "model")).load(base, 0, "cpu")
    scale = trainable.towers.logit_scale.item()
    example = Example("1", tuple("abcdefghij"), ("text",), 2)
    # The text lies on an axis: the target at 60 degrees from it, all others at 90.
    images = torch.zeros(10, 16)
    images[:, 1] = 1
    images[2, :2] = torch.tensor([0.5, 3**0.5 / 2])
    texts = torch.zeros(1, 16)
    texts[0, 0] = 3
    batch = trainable.batch([example], random.Random(0))
    assert list(batch.images) == list("abcdefghij")
    expected = np.log(np.exp(scale / 2) + 9) - scale / 2
    assert trainable.losses(batch, images, texts)["cross-entropy"].item() == pytest.approx(expected, abs=1e-6)
    assert list(trainable.outcomes(batch, images, texts)) == [True]
    # A tie is wrong.
    images[3] = images[2]
    assert list(trainable.outcomes(batch, images, texts)) == [False]


def four_sets(trainable: Trainable) -> Batch:
    """Return a batch of four sets with different targets, of which the second and the fourth are videos."""
    return trainable.batch(
        [Example(str(n), tuple("abcdefghij"), ("text",), 2 * n, ordered=n % 2 == 1) for n in range(4)],
        random.Random(0),
    )


def in_double_precision(recipe: str, base: str, **options: float) -> Trainable:
    trainable = recipe_of(Plan(recipe, base, "model", options)).load(base, 0, "cpu")
    for module in trainable.modules.values():
        module.double()
    return trainable


def test_the_loss_of_the_context_module_on_four_sets_by_hand(base: str) -> None:
    """It is the sum over the sets, which makes no difference for a single one."""
    trainable = in_double_precision("imagecode-context-module", base, **SMALL, scale=3.0)
    with torch.no_grad():
        # The layer returns nothing, so a logit is the first number of the product of image and text, times the scale.
        trainable.head.layers.layers[0].norm2.weight.zero_()
        trainable.head.predict.weight.zero_()
        trainable.head.predict.weight[0, 0] = 1
        trainable.head.predict.bias.zero_()
    # The texts lie on the first axis; image n of a set has the cosine 0, and the targets 1, 1/2, 0 and -1.
    texts, images = torch.zeros(4, 16).double(), torch.zeros(4, 10, 16).double()
    texts[:, 0] = 1
    images[..., 1] = 1
    for number, cosine in enumerate([1, 0.5, 0, -1]):
        images[number, 2 * number, :2] = torch.tensor([cosine, (1 - cosine**2) ** 0.5], dtype=torch.float64)
    expected = sum(np.log(np.exp(3 * cosine) + 9) - 3 * cosine for cosine in [1, 0.5, 0, -1])
    found = trainable.losses(four_sets(trainable), images.reshape(40, 16), texts)["cross-entropy"].item()
    assert found == pytest.approx(expected, abs=1e-9)


def test_gradients_of_context_batch_are_those_of_differences(base: str) -> None:
    trainable = in_double_precision("imagecode-context-batch", base)
    torch.manual_seed(1)
    given = [torch.randn(rows, 16, dtype=torch.float64, requires_grad=True) for rows in (40, 4)]
    scale = trainable.towers.model.logit_scale

    def loss(images: Any, texts: Any, scale: Any) -> Any:
        return trainable.losses(four_sets(trainable), images, texts)["cross-entropy"]

    # The scale is changed where it is.
    assert torch.autograd.gradcheck(loss, [*given, scale])


@pytest.mark.parametrize("recipe", ["imagecode-context-module", "imagecode-temporal"])
def test_gradients_of_the_context_module_are_those_of_differences(recipe: str, base: str) -> None:
    trainable = in_double_precision(recipe, base, layers=1, heads=2, intermediate=2, dropout=0.0, scale=2.0)
    torch.manual_seed(1)
    given = [torch.randn(rows, 16, dtype=torch.float64, requires_grad=True) for rows in (40, 4)]

    def loss(images: Any, texts: Any, *weights: Any) -> Any:
        return trainable.losses(four_sets(trainable), images, texts)["cross-entropy"]

    # The numbers of the module are changed where they are.
    assert torch.autograd.gradcheck(loss, [*given, *trainable.head.parameters()])


def test_the_module_adds_its_input_and_the_places_of_ordered_sets_by_hand() -> None:
    """With layers that return their normalized input, as attention and the inner part give nothing."""
    module = make_module(length=4, layers=1, heads=2, intermediate=4, dropout=0.0, scale=2.0, has_places=True)
    with torch.no_grad():
        layer = module.layers.layers[0]
        for linear in (layer.self_attn.out_proj, layer.linear2):
            linear.weight.zero_()
            linear.bias.zero_()
        module.predict.weight.copy_(torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
        module.predict.bias.fill_(0.5)
        module.places.weight.zero_()
        module.places.weight[1] = torch.tensor([-6.0, 0.0, 0.0, 0.0])
    images = torch.tensor([[[1.0, 0.0, 0.0, 0.0]] * 2])
    text = torch.tensor([[1.0, 0.0, 0.0, 0.0]])
    # Fused: (2, 0, 0, 0), normalized: mean 1/2, standard deviation sqrt(3)/2: first number sqrt(3).
    static = module.eval()(images, text, torch.tensor([0.0]))
    assert static[0].tolist() == pytest.approx([3**0.5 + 2 + 0.5] * 2, abs=1e-5)
    # The place makes the second (-4, 0, 0, 0), normalized -sqrt(3); what is added stays without the place.
    video = module(images, text, torch.tensor([1.0]))
    assert video[0].tolist() == pytest.approx([3**0.5 + 2.5, -(3**0.5) + 2.5], abs=1e-5)


def test_context_batch_finds_colours_in_other_sets_better_than_before(base: str, folder: Path) -> None:
    plan = Plan(
        "imagecode-context-batch", base, "sets", {"batch": 6, "epochs": 12, "learning_rate": 1e-3}, device="cpu"
    )
    others = sets(seed=2)
    result = train(plan, sets(), others, PICTURES.__getitem__, folder, lambda progress: None)
    start = scorer_of(base)
    assert result.score is not None
    right = 0
    for one in others:
        scores = start.score([(one.captions[0], name) for name in one.images], PICTURES.__getitem__)
        right += int(np.argmax(np.array(scores, dtype=float))) == one.target
    assert result.score >= right / len(others) + 0.2


@pytest.mark.parametrize(("recipe", "prefix"), [("imagecode-context-module", ""), ("imagecode-temporal", "video:")])
def test_a_context_module_is_what_predictions_load(recipe: str, prefix: str, base: str, folder: Path) -> None:
    examples = sets(ordered=bool(prefix))
    plan = Plan(recipe, base, "module", SMALL | {"batch": 6, "epochs": 4, "learning_rate": 1e-3}, device="cpu")
    result = train(plan, examples, examples, PICTURES.__getitem__, folder, lambda progress: None)
    assert result.spec == f"imagecode:{prefix}{folder / 'module.pt'}"
    scorer = scorer_of(result.spec)
    assert scorer.identity.weights == result.weights
    pairs = [(one.captions[0], name) for one in examples for name in one.images]
    scores = np.array(scorer.score(pairs, PICTURES.__getitem__), dtype=float).reshape(-1, 10)
    assert result.score == np.mean(scores.argmax(axis=1) == [one.target for one in examples])
    if prefix:
        backwards = np.array(scorer.score(pairs[9::-1], PICTURES.__getitem__), dtype=float)[::-1]
        assert not np.allclose(backwards, scores[0])
        # As a static set, in any order.
        static = scorer_of(f"imagecode:{folder / 'module.pt'}")
        assert static.score(pairs[9::-1], PICTURES.__getitem__)[::-1] == pytest.approx(
            static.score(pairs[:10], PICTURES.__getitem__), abs=1e-4
        )
    else:
        with pytest.raises(CannotLoad, match="was trained without the order of images"):
            scorer_of(f"imagecode:video:{folder / 'module.pt'}")


def test_a_set_without_one_of_its_images_has_no_scores(base: str, folder: Path) -> None:
    def all_but_red(name: str) -> Image.Image:
        if name == "red":
            raise NoPicture("There is no red.")
        return PICTURES[name]

    plan = Plan("imagecode-context-module", base, "module", SMALL | {"epochs": 1}, device="cpu")
    scorer = scorer_of(train(plan, sets(), [], PICTURES.__getitem__, folder, lambda progress: None).spec)
    scores = scorer.score([("a", "red"), ("a", "blue"), ("b", "blue"), ("b", "pink")], all_but_red)
    assert [type(score) for score in scores] == [NoPicture, NoPicture, float, float]


def test_a_damaged_module(tmp_path: Path) -> None:
    (tmp_path / "module.pt").write_bytes(b"?")
    with pytest.raises(CannotLoad, match="cannot be loaded as a context module"):
        scorer_of(f"imagecode:{tmp_path / 'module.pt'}")

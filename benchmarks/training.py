"""Measure how many steps a second a recipe trains beside OpenCLIP's own loop, on the same device.

    .venv-models/bin/python -m benchmarks.training [--model small] [--examples 8] [--steps 20] [--rounds 5]

Both train the same model, from random weights, with CLIP's loss (the recipe `trohn-img`) on the same JPEGs of 640 x
480, two images and two texts of each example. OpenCLIP's `train_one_epoch` reads them by torch's DataLoader, in its own
process and by as many workers as there are cores; the better one counts. Checkpoints and validation are left out, which
that loop does not have. The first steps are not timed. The three run in turn, and the median of the rounds counts.
Besides the time that passed, the processor time is compared (of the loop without workers), which other work on the
machine changes less. The goal is 0.9 of OpenCLIP's loop.
"""

import argparse
import json
import logging
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from types import SimpleNamespace
from typing import Any

from benchmarks.model_worker import draw_pictures
from tests.models.torchvision_on_cpu import declare_operators
from training.examples import Example

# Steps before the clock starts.
WARM = 2
SMALL = {
    "embed_dim": 64,
    "vision_cfg": {"image_size": 224, "layers": 4, "width": 128, "head_width": 32, "patch_size": 32},
    "text_cfg": {"context_length": 32, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2},
}
WORDS = ("a dog on a cat", "a cat on a dog")


class Clock:
    """The times at which steps began, and the processor times."""

    def __init__(self) -> None:
        self.times: list[tuple[float, float]] = []

    def tick(self, *_: Any) -> None:
        self.times.append((perf_counter(), process_time()))

    @property
    def per_second(self) -> tuple[float, float]:
        """Return the steps per second of time, and of processor time."""
        (begun, worked), (ended, done) = self.times[WARM], self.times[-1]
        steps = len(self.times) - 1 - WARM
        return steps / (ended - begun), steps / (done - worked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="small", help="an architecture of OpenCLIP; small: of 2 million numbers")
    parser.add_argument("--examples", type=int, default=8, help="in a batch")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    # Before any library of models reads it: such small models lose much where several threads wait for each other.
    os.environ["OMP_NUM_THREADS"] = "1"
    declare_operators()

    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        number = given.examples * (given.steps + WARM)
        names = draw_pictures(folder, 2 * number)
        files = [str(folder / "images" / name[:2] / name) for name in names]
        examples = [
            Example(str(place), (files[2 * place], files[2 * place + 1]), tuple(f"{text} {place}" for text in WORDS))
            for place in range(number)
        ]
        _measure(given.model, examples, given.examples, given.rounds, folder)


def _measure(model: str, examples: Sequence[Example], batch: int, rounds: int, folder: Path) -> None:
    import open_clip
    import torch

    (folder / "small.json").write_text(json.dumps(SMALL), encoding="utf-8")
    open_clip.add_model_config(folder / "small.json")
    weights = folder / "start.pt"
    torch.save(open_clip.create_model(model).state_dict(), weights)
    cores = os.cpu_count() or 1
    ways: dict[str, Callable[[Clock], None]] = {
        "OpenCLIP": lambda clock: _by_openclip(model, weights, examples, batch, 0, clock),
        f"OpenCLIP, {cores} workers": lambda clock: _by_openclip(model, weights, examples, batch, cores, clock),
        "trohn-img": lambda clock: _by_recipe(f"open_clip:{model}/{weights}", examples, batch, folder, clock),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            way(clock := Clock())
            found[name].append(clock.per_second)
    middle = {name: [median(each) for each in zip(*measured, strict=True)] for name, measured in found.items()}
    for name, (per_second, of_processor) in middle.items():
        least, most = min(found[name])[0], max(found[name])[0]
        print(
            f"{name}: {per_second:.2f} steps a second ({least:.2f} to {most:.2f}), {of_processor:.2f} a second of this "
            "process's processor time"
        )
    (alone, worked), (with_workers, _), (ours, our_work) = middle.values()
    print(f"ratio: {ours / max(alone, with_workers):.2f}; of processor time {our_work / worked:.2f}")


def _by_recipe(spec: str, examples: Sequence[Example], batch: int, folder: Path, clock: Clock) -> None:
    from PIL import Image

    from training.loop import Plan, train

    options = {"batch": batch, "epochs": 1}
    plan = Plan("trohn-img", spec, "trained", options, checkpoint_steps=10**9)

    def begin_step() -> bool:
        clock.tick()
        return False

    with tempfile.TemporaryDirectory(dir=folder) as out:
        train(plan, examples, [], Image.open, Path(out), lambda progress: None, begin_step)


def _by_openclip(
    model: str, weights: Path, examples: Sequence[Example], batch: int, workers: int, clock: Clock
) -> None:
    import open_clip
    import torch
    from open_clip_train.scheduler import cosine_lr
    from open_clip_train.train import train_one_epoch
    from PIL import Image

    from predictions.scorers.torch_models import device_of_this_machine
    from training.recipes.trohn_img import TROHNImg

    recipe, device = TROHNImg(), device_of_this_machine()
    towers, _, transform = open_clip.create_model_and_transforms(
        model, pretrained=str(weights), device=device, output_dict=True
    )
    tokenize = open_clip.get_tokenizer(model)
    pairs = [pair for one in examples for pair in zip(one.images, one.captions, strict=True)]

    class Pairs(torch.utils.data.Dataset):  # type: ignore[misc]  # torch is not there when types are checked
        def __len__(self) -> int:
            return len(pairs)

        def __getitem__(self, place: int) -> tuple[Any, Any]:
            image, text = pairs[place]
            return transform(Image.open(image)), tokenize([text])[0]

    loader = torch.utils.data.DataLoader(Pairs(), batch_size=2 * batch, shuffle=True, num_workers=workers)
    loader.num_batches, loader.num_samples = len(loader), len(pairs)
    optimizer = torch.optim.AdamW(towers.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay)
    schedule = cosine_lr(optimizer, recipe.learning_rate, recipe.warmup_steps, len(loader))

    def begin_step(step: int) -> None:
        clock.tick()
        schedule(step)

    arguments = SimpleNamespace(
        **{"device": str(device), "precision": "fp32", "distill": False, "accum_freq": 1, "skip_scheduler": False},
        **{"horovod": False, "grad_clip_norm": None, "batch_size": 2 * batch, "world_size": 1, "rank": 0},
        **{"log_every_n_steps": 10**9, "wandb": False, "distributed": False},
    )
    data = {"train": SimpleNamespace(dataloader=loader, set_epoch=lambda epoch: None)}
    train_one_epoch(towers, data, open_clip.ClipLoss(), 0, optimizer, None, begin_step, None, arguments)


if __name__ == "__main__":
    main()

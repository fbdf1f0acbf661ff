"""Measure how many images a second `diffusers:` makes beside the library alone, on the same device.

    .venv-models/bin/python -m benchmarks.making_images [--model FOLDER] [--texts 20]

Without `--model`, the tiny pipeline of the tests makes images of 64 x 64 in two steps: what Lineup adds (seeds, the
check for broken images, PNG, base64) weighs most there. Both make four images for each text with the same seeds, text
by text in turns. Beside the time that passed, processor time is compared, which other work on the machine changes less.
The goal is 0.9 of the library alone.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from making.makers import Request
from making.makers.diffusers import NO_CHECKER, Diffusers
from making.messages import from_results
from tests.models.torchvision_on_cpu import declare_operators

IMAGES, GUIDANCE = 4, 7.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--texts", type=int, default=20)
    arguments = parser.parse_args()
    # Before any library of models reads it: such small models lose much where several threads wait for each other.
    os.environ["OMP_NUM_THREADS"] = "1"
    declare_operators()
    from tests.models.test_diffusers import save_pipeline

    with tempfile.TemporaryDirectory() as scratch:
        _measure(str(arguments.model or save_pipeline(Path(scratch) / "tiny")), arguments.texts)


def _measure(model: str, texts: int) -> None:
    from diffusers import DiffusionPipeline

    from predictions.scorers.torch_models import device_of_this_machine
    from tests.models.test_diffusers import SIDE, STEPS

    options = Diffusers(checker=NO_CHECKER, steps=STEPS, guidance=GUIDANCE, width=SIDE, height=SIDE)
    maker, pipeline = options.load(model), DiffusionPipeline.from_pretrained(model)
    pipeline.set_progress_bar_config(disable=True)
    pipeline.to(device_of_this_machine())

    def make(request: Request) -> None:
        from_results(maker.identity, maker.make([request]))

    def make_alone(request: Request) -> None:
        _make_alone(pipeline, request, SIDE, STEPS)

    ours, alone = _Total(make), _Total(make_alone)
    for number in range(texts):
        for each in (ours, alone) if number % 2 else (alone, ours):
            each.run(Request(f"a dog on cat {number}", IMAGES, number * IMAGES))
    print(f"diffusers alone: {alone}\ndiffusers: {ours}")
    print(f"ratio: {alone.seconds / ours.seconds:.2f}; of processor time {alone.processor / ours.processor:.2f}")


class _Total:
    """The time that images take, without the first text's."""

    def __init__(self, make: Callable[[Request], None]) -> None:
        self._make = make
        self.texts = -1
        self.seconds = self.processor = 0.0

    def run(self, request: Request) -> None:
        begun, processor = perf_counter(), process_time()
        self._make(request)
        self.texts += 1
        if self.texts:
            self.seconds += perf_counter() - begun
            self.processor += process_time() - processor

    def __str__(self) -> str:
        images = self.texts * IMAGES
        return f"{images / self.seconds:.1f} images/s, {1000 * self.processor / images:.1f} ms of processor time each"


def _make_alone(pipeline: Any, request: Request, side: int, steps: int) -> None:
    import torch

    with torch.inference_mode():
        pipeline(
            prompt=[request.text] * request.count,
            negative_prompt=[""] * request.count,
            num_inference_steps=steps,
            guidance_scale=GUIDANCE,
            width=side,
            height=side,
            generator=[torch.Generator().manual_seed(request.seed + number) for number in range(request.count)],
        )


if __name__ == "__main__":
    main()

"""Train the demo's small contrastive model on drawn scenes. Pure, except for the file that it writes.

    .venv-models/bin/python -m simulation.demo.model_training FILE --scenes N --epochs N --seed SEED

`train_demo_model` runs it in a Python with torch, and with onnx and onnxscript to write the file
(requirements-training.txt): the site's Python has none of them.

It has an image tower and a text tower, trained like CLIP (Radford et al. 2021): in a batch, each image must find its
text and each text its image. No batch contains a caption with two words swapped, so that, as in its large relatives,
the model learns well which things are shown, and less well which attribute belongs to which thing.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from predictions.scorers.onnx import (
    FIRST_WORD,
    NAME,
    PICTURE_VECTORS,
    PICTURES,
    TEXT_VECTORS,
    TEXTS,
    VERSION,
    VOCABULARY,
    number_words,
    numbers_of,
    pixels_of,
    words_of,
)
from simulation.demo.pictures import draw_scene
from simulation.demo.scenes import CHANGES, Scene, first_scene

MODEL_NAME, MODEL_VERSION = "Drawn scenes, two towers", "1"
SIDE, WORDS, LENGTH = 64, 28, 64
CHANNELS = (32, 64, 96, 128)
BATCH, HIGHEST_RATE = 128, 2e-3


def training_scenes(count: int, seed: str) -> Iterator[Scene]:
    """Yield training scenes like the demo's: two things, often changed in one of the demo's ways."""
    changes = list(CHANGES.values())
    for number in range(count):
        rng = random.Random(f"{seed}|{number}")  # noqa: S311 (drawings, not secrets)
        scene = first_scene(rng)
        yield rng.choice(changes)(scene, rng) if rng.random() < 0.7 else scene


def _pixels(scene: Scene, seed: str) -> NDArray[np.uint8]:
    return pixels_of(draw_scene(scene, seed=seed), SIDE)


def draw_pixels(scenes: Sequence[Scene], seed: str) -> NDArray[np.uint8]:
    """Return the drawn scenes as model input: n x SIDE x SIDE x 3."""
    seeds = [f"{seed}-{number}" for number in range(len(scenes))]
    with ProcessPoolExecutor() as processes:
        drawn = processes.map(_pixels, scenes, seeds, chunksize=50)
        return np.stack(list(tqdm(drawn, total=len(scenes), desc="drawing", unit="scene")))


def make_model(words_known: int) -> Any:
    """Return the torch model: images and texts as in `predictions.scorers.onnx` -> vectors."""
    import torch
    from torch import nn

    class Towers(nn.Module):  # type: ignore[misc]  # torch is not there when types are checked
        def __init__(self) -> None:
            super().__init__()
            layers: list[nn.Module] = []
            for before, after in zip((3, *CHANNELS), CHANNELS, strict=False):
                layers += [nn.Conv2d(before, after, 3, stride=2, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
            # Keep positions: "left of" depends on where things are.
            places = (SIDE // 2 ** len(CHANNELS)) ** 2
            self.see = nn.Sequential(*layers, nn.Flatten(), nn.Linear(CHANNELS[-1] * places, LENGTH))
            self.words = nn.Embedding(words_known, LENGTH)
            self.places = nn.Parameter(0.02 * torch.randn(WORDS, LENGTH))
            self.read = nn.TransformerEncoderLayer(LENGTH, 4, 2 * LENGTH, 0.0, batch_first=True, norm_first=True)
            self.say = nn.Linear(LENGTH, LENGTH)

        def forward(self, pictures: Any, texts: Any) -> tuple[Any, Any]:
            seen = self.see(pictures.permute(0, 3, 1, 2).float() / 127.5 - 1)
            is_word = (texts > 0).float().unsqueeze(-1)
            # Always attend to the first position, so that a text without words has something to attend to.
            is_left_out = (texts == 0) & (torch.arange(WORDS) > 0)
            read = self.read(self.words(texts) + self.places, src_key_padding_mask=is_left_out)
            return seen, self.say((read * is_word).sum(1) / is_word.sum(1).clamp(min=1))

    return Towers()


def train(pictures: NDArray[np.uint8], texts: NDArray[np.int64], words_known: int, epochs: int) -> Any:
    """Return the model trained for `epochs`, from fixed initial weights."""
    import torch
    from torch.nn.functional import cross_entropy, normalize

    torch.manual_seed(0)
    model = make_model(words_known)
    logit_scale = torch.nn.Parameter(torch.tensor(2.5))
    optimizer = torch.optim.AdamW([*model.parameters(), logit_scale], weight_decay=1e-2)
    steps = epochs * (len(pictures) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=HIGHEST_RATE, total_steps=steps)
    right = torch.arange(BATCH)
    for _ in tqdm(range(epochs), desc="training", unit="epoch"):
        for rows in torch.randperm(len(pictures))[: steps // epochs * BATCH].split(BATCH):
            seen, read = model(torch.from_numpy(pictures[rows]), torch.from_numpy(texts[rows]))
            likeness = logit_scale.exp() * normalize(seen) @ normalize(read).T
            loss = (cross_entropy(likeness, right) + cross_entropy(likeness.T, right)) / 2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return model.eval()


def write(model: Any, vocabulary: Sequence[str], file: Path) -> None:
    """Write the model with its vocabulary to an ONNX file."""
    import torch

    example = (torch.zeros(2, SIDE, SIDE, 3, dtype=torch.uint8), torch.ones(3, WORDS, dtype=torch.int64))
    program = torch.onnx.export(
        model,
        example,
        input_names=[PICTURES, TEXTS],
        output_names=[PICTURE_VECTORS, TEXT_VECTORS],
        dynamic_shapes=({0: torch.export.Dim("n")}, {0: torch.export.Dim("m")}),
        dynamo=True,
        verbose=False,
    )
    # Remove the local paths of the nodes' source code.
    for node in program.model.graph.all_nodes():
        node.metadata_props.clear()
    told = {NAME: MODEL_NAME, VERSION: MODEL_VERSION, VOCABULARY: json.dumps(list(vocabulary))}
    program.model.metadata_props.update(told)
    program.save(file, external_data=False)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the demo's model and write it to FILE.")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--scenes", type=int, required=True)
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--seed", required=True)
    options = parser.parse_args()
    scenes = list(training_scenes(options.scenes, options.seed))
    vocabulary = sorted({word for scene in scenes for word in words_of(scene.caption)})
    known = number_words(vocabulary)
    texts = np.stack([numbers_of(scene.caption, known, WORDS) for scene in scenes])
    model = train(draw_pixels(scenes, options.seed), texts, FIRST_WORD + len(vocabulary), options.epochs)
    write(model, vocabulary, options.file)


if __name__ == "__main__":
    main()

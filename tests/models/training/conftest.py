"""A tiny CLIP, and drawn scenes to train it on."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
import torch
from PIL import Image

from simulation.demo.pictures import draw_scene
from simulation.demo.scenes import describe_instances
from tests.models.test_open_clip import save_open_clip
from training.examples import Example

# The tiny model sees 32 x 32 pixels.
SEEN = 48


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The spec of a tiny CLIP with random weights."""
    return f"open_clip:tiny-test/{save_open_clip(tmp_path_factory.mktemp('base') / 'tiny')}"


@cache
def drawn(per_category: int) -> tuple[Sequence[Example], dict[str, Image.Image]]:
    """Return drawn instances with two images and two captions each, and their images by name."""
    examples, pictures = [], {}
    for one in describe_instances(seed="training", per_category=per_category):
        names = (f"{one.key}-positive", f"{one.key}-negative")
        for name, scene in zip(names, (one.scene, one.negative), strict=True):
            pictures[name] = draw_scene(scene, seed=name).resize((SEEN, SEEN))
        captions = (one.scene.caption, one.negative.caption)
        examples.append(Example(one.key, names, captions, None, one.type, one.subtype))
    return examples, pictures


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "trained"

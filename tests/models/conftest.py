"""Tests of real loading code on tiny models, which they make and save: `make test-models`. Nothing is downloaded."""

import os
from pathlib import Path

# Before any library reads it: what these tests forget to make must not come from elsewhere.
os.environ["HF_HUB_OFFLINE"] = "1"
# Such small models gain nothing from several threads, and lose much where these must wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pytest
from PIL import Image

from tests.models.torchvision_on_cpu import declare_operators

declare_operators()


def noise(seed: int, size: tuple[int, int] = (50, 40)) -> Image.Image:
    """Return a picture of random colours, of this width and height."""
    width, height = size
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8))


@pytest.fixture
def pictures() -> dict[str, Image.Image]:
    """Pictures of several shapes, by name."""
    sizes = [(50, 40), (40, 50), (64, 64), (33, 90), (200, 31)]
    return {f"picture-{seed}": noise(seed, size) for seed, size in enumerate(sizes)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path

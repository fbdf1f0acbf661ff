"""Tests of real loading code on tiny models, which they make and save: `make test-models`. Nothing is downloaded."""

import os
from importlib.metadata import version
from pathlib import Path

# Before any library reads it: what these tests forget to make must not come from elsewhere.
os.environ["HF_HUB_OFFLINE"] = "1"
# Such small models gain nothing from several threads, and lose much where these must wait for each other.
os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
import pytest
import torch
from PIL import Image


def _make_torchvision_importable() -> "torch.library.Library | None":
    """Declare the operators that torchvision's wheel for CUDA brings along, and misses where torch is one for the CPU:
    without them it cannot even be imported. Nothing here calls them."""
    if torch.version.cuda is not None or "+" in version("torchvision"):
        return None
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    return library


# They go with the object that declared them.
DECLARED = _make_torchvision_importable()
# The same, as a sitecustomize.py for a process that is not a test.
SITE = """
from importlib.metadata import version
import torch
if torch.version.cuda is None and "+" not in version("torchvision"):
    declared = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        declared.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


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

"""Small pictures of noise, each by its name, some of them bluer than others."""

import hashlib

import numpy as np
from PIL import Image


def names_of(word: str, count: int) -> list[str]:
    return [f"{word}-{number}" for number in range(count)]


def drawn(name: str, *, blue: bool) -> Image.Image:
    noise = np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big"))
    pixels = noise.integers(0, 200, size=(16, 16, 3), dtype=np.uint8)
    pixels[..., 2] += 50 if blue else 0
    return Image.fromarray(pixels)

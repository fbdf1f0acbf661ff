"""Vectors and pictures that are near to each other: drawn by a number, saved well or badly, standing in instances."""

from io import BytesIO

import numpy as np
from PIL import Image as Picture

from predictions.image_sets.embeddings import Vectors
from studies.actions.images import check_and_store
from studies.models import Image, Instance, InstanceImage, Project
from tests.factories import make_instance


def at(*degrees: float) -> Vectors:
    """Return vectors of length 1 in these directions: two that are 60 degrees apart have the cosine and distance .5."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def drawn(number: int) -> Picture.Image:
    """Return a picture of 96 by 96 pixels, in coloured squares that no other number has."""
    squares = np.random.default_rng(number).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    return Picture.fromarray(squares).resize((96, 96), Picture.Resampling.NEAREST)


def saved(number: int, *, quality: int = 95) -> bytes:
    out = BytesIO()
    drawn(number).save(out, "JPEG", quality=quality)
    return out.getvalue()


def put(project: Project, key: str, *pictures: bytes) -> Instance:
    """Make an instance that shows these pictures in the role "image", stored as an import stores them."""
    instance = make_instance(project, key, candidates=0, captions={}, original_captions={})
    for position, data in enumerate(pictures):
        sha256, facts = check_and_store(data, keep=True, on_write=lambda name: None)
        known = {"width": facts.width, "height": facts.height, "format": facts.format, "byte_size": len(data)}
        image, _ = Image.objects.get_or_create(pk=sha256, defaults=known)
        InstanceImage.objects.create(
            instance=instance, role="image", position=position, filename=f"{key}-{position}.jpg", image=image
        )
    return instance

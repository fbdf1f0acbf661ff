"""Store the bytes of images that a worker made."""

from dataclasses import asdict

from studies.actions.images import check_and_store
from studies.models import Image

# Rejected images of a stage whose bytes are stored, as samples.
MOST_REJECTED = 50


def store_image(data: bytes) -> Image:
    """Store the bytes of an image with its renditions, once, and return its row. Raises NotAPicture."""
    sha256, facts = check_and_store(data, keep=True, on_write=lambda _: None)
    return Image.objects.get_or_create(pk=sha256, defaults={"byte_size": len(data), **asdict(facts)})[0]

"""Placeholder images for a source that ships without images: tiny, and labelled."""

import hashlib
import io
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import TypeVar

import PIL.Image
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from studies.actions.images import is_stored, original_name
from studies.actions.table_statistics import refresh_statistics
from studies.models import Image, Instance, InstanceImage, Project
from studies.progress_bars import ProgressBars

GENERATOR = "replay stand-in"
SOURCE = "Drawn by the replay in place of an image that the manifest names but nobody has put there."
WIDTH, HEIGHT = 4, 2
BATCH = 200
PLACE = ("image", "source", "licence", "generator")
T = TypeVar("T")


def wait_for_photos(*, project: Project, role: str, key: str) -> None:
    """Make each instance wait for a photo in `role`, if it has none, named by `key` of its reference."""
    without = Instance.objects.filter(project=project).exclude(images__role=role)
    photos = [
        InstanceImage(instance=instance, role=role, filename=str(instance.reference[key]))
        for instance in without.iterator()
    ]
    InstanceImage.objects.bulk_create(photos, batch_size=BATCH)


def fill_with_placeholders(*, project: Project, progress: ProgressBars, most: int | None = None) -> int:
    """Give every place of the project that waits for an image a placeholder; return how many were drawn.

    most: draw at most this many, at least 1, and use them in turn over the sorted names; names that are close to each
    other still get different images. None: one image per name.
    """
    uses = list(InstanceImage.objects.filter(instance__project=project, image=None).order_by("pk"))
    names = sorted({use.filename for use in uses})
    drawn = _draw(names[:most], progress)
    images = dict(zip(names, cycle(drawn.values())))
    progress.begin("their places", len(uses))
    for use in uses:
        use.image = images[use.filename]
        use.source, use.licence, use.generator = SOURCE, "", GENERATOR
    for batch in _batches(uses):
        InstanceImage.objects.bulk_create(batch, update_conflicts=True, unique_fields=["id"], update_fields=PLACE)
        progress.step(len(batch))
    return len(drawn)


def _draw(filenames: Sequence[str], progress: ProgressBars) -> dict[str, Image]:
    """Draw and store placeholders for `filenames`, all of them before the first one is used.

    PostgreSQL plans the image look-up once per connection, for the table's size at that moment. Planned for a nearly
    empty table, each of 37,560 rows would read all images (docs/decisions/0009).
    """
    images: dict[str, Image] = {}
    progress.begin("stand-ins", len(filenames))
    for batch in _batches(filenames):
        drawn = {filename: make_placeholder(filename) for filename in batch}
        Image.objects.bulk_create(drawn.values(), ignore_conflicts=True)
        images |= drawn
        progress.step(len(batch))
    refresh_statistics(Image)
    return images


def _batches(of: Sequence[T]) -> Iterator[Sequence[T]]:
    return (of[start : start + BATCH] for start in range(0, len(of), BATCH))


def make_placeholder(filename: str) -> Image:
    """Draw and store the placeholder for `filename`: one image per name, different for different names."""
    digest = hashlib.sha256(filename.encode()).digest()
    buffer = io.BytesIO()
    PIL.Image.frombytes("RGB", (WIDTH, HEIGHT), digest[: 3 * WIDTH * HEIGHT]).save(buffer, "PNG")
    data = buffer.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    if not is_stored(sha256):
        # Pages create renditions on demand.
        default_storage.save(original_name(sha256), ContentFile(data))
    return Image(sha256=sha256, width=WIDTH, height=HEIGHT, format="PNG", byte_size=len(data))

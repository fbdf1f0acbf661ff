"""Pictures that stand in for the images of a source that is shipped without them: tiny, and labelled."""

import hashlib
import io
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import TypeVar

import PIL.Image
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from simulation.replay.progress import Progress
from studies.actions.images import is_stored, original_name
from studies.actions.table_statistics import refresh_statistics
from studies.models import Image, Instance, InstanceImage, Project

GENERATOR = "replay stand-in"
SOURCE = "Drawn by the replay in place of an image that the manifest names but nobody has put there."
WIDTH, HEIGHT = 4, 2
BATCH = 200
# What a stand-in says of its place.
PLACE = ("image", "source", "licence", "generator")
T = TypeVar("T")


def await_photos(*, project: Project, role: str, key: str) -> None:
    """Let each instance without one wait for a photo in `role`, under the name that its reference has as `key`."""
    without = Instance.objects.filter(project=project).exclude(images__role=role)
    photos = [
        InstanceImage(instance=instance, role=role, filename=str(instance.reference[key]))
        for instance in without.iterator()
    ]
    InstanceImage.objects.bulk_create(photos, batch_size=BATCH)


def fill_with_stand_ins(*, project: Project, progress: Progress, most: int | None = None) -> int:
    """Give every place of the project that waits for an image a stand-in; return how many were drawn.

    most: draw no more than so many, at least 1, and take them in turn over the names in their order; names that stand
    so near to each other are different pictures all the same. None: every name is another picture.
    """
    uses = list(InstanceImage.objects.filter(instance__project=project, image=None).order_by("pk"))
    names = sorted({use.filename for use in uses})
    drawn = _draw(names[:most], progress)
    images = dict(zip(names, cycle(drawn.values())))
    progress.begin("their places", len(uses))
    for batch in _batches(uses):
        for use in batch:
            use.image = images[use.filename]
            use.source, use.licence, use.generator = SOURCE, "", GENERATOR
        # Rows that are there already, written again: one statement without a case for each of them.
        InstanceImage.objects.bulk_create(batch, update_conflicts=True, unique_fields=["id"], update_fields=PLACE)
        progress.step(len(batch))
    return len(drawn)


def _draw(filenames: Sequence[str], progress: Progress) -> dict[str, Image]:
    """Draw and store the stand-ins for `filenames`, all of them before the first has its place.

    PostgreSQL plans once per connection how it looks for the image that a row names, by the size of the table at that
    moment. Planned for a nearly empty one, each of 37,560 rows would read all images (docs/decisions/0009).
    """
    images: dict[str, Image] = {}
    progress.begin("stand-ins", len(filenames))
    for batch in _batches(filenames):
        drawn = {filename: stand_in(filename) for filename in batch}
        Image.objects.bulk_create(drawn.values(), ignore_conflicts=True)
        images |= drawn
        progress.step(len(batch))
    refresh_statistics(Image)
    return images


def _batches(of: Sequence[T]) -> Iterator[Sequence[T]]:
    return (of[start : start + BATCH] for start in range(0, len(of), BATCH))


def stand_in(filename: str) -> Image:
    """Draw and store the stand-in for `filename`: the same name is the same picture, other names are other pictures."""
    digest = hashlib.sha256(filename.encode()).digest()
    buffer = io.BytesIO()
    PIL.Image.frombytes("RGB", (WIDTH, HEIGHT), digest[: 3 * WIDTH * HEIGHT]).save(buffer, "PNG")
    data = buffer.getvalue()
    sha256 = hashlib.sha256(data).hexdigest()
    if not is_stored(sha256):
        # Without renditions: the pages make them when somebody looks.
        default_storage.save(original_name(sha256), ContentFile(data))
    return Image(
        sha256=sha256,
        width=WIDTH,
        height=HEIGHT,
        format="PNG",
        byte_size=len(data),
    )

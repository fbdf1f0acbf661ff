"""Pictures that stand in for the images of a source that is shipped without them: tiny, all different, and labelled."""

import hashlib
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage

from rehearsal.replay.progress import Progress
from studies.actions.images import original_name
from studies.actions.statistics import refresh_statistics
from studies.models import Image, Instance, InstanceImage, Project

GENERATOR = "replay stand-in"
SOURCE = "Drawn by the replay in place of an image that the manifest names but nobody has put there."
WIDTH, HEIGHT = 4, 2
BATCH = 1000
CHANGED = ["image", "source", "licence", "generator"]
SIGNATURE = b"\x89PNG\r\n\x1a\n"
NEW_FILE, READABLE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644
T = TypeVar("T")


def await_photos(*, project: Project, role: str, key: str) -> None:
    """Let each instance without one wait for a photo in `role`, under the name that its reference has as `key`."""
    without = Instance.objects.filter(project=project).exclude(images__role=role)
    photos = [
        InstanceImage(instance=instance, role=role, filename=str(instance.reference[key]))
        for instance in without.iterator()
    ]
    InstanceImage.objects.bulk_create(photos, batch_size=BATCH)


def fill_with_stand_ins(*, project: Project, progress: Progress) -> int:
    """Give every place of the project that waits for an image a stand-in; return how many were drawn."""
    waiting = InstanceImage.objects.filter(instance__project=project, image=None)
    uses = list(waiting.order_by("pk"))
    images = _draw(sorted({use.filename for use in uses}), progress)
    progress.begin("their places", len(uses))
    for batch in _batches(uses):
        for use in batch:
            use.image, use.source, use.licence, use.generator = images[use.filename], SOURCE, "", GENERATOR
        # Inserting rows that are there already changes them; an update of many rows, each to a value of its own, takes
        # ten times as long to be put into words.
        InstanceImage.objects.bulk_create(batch, update_conflicts=True, unique_fields=["pk"], update_fields=CHANGED)
        progress.step(len(batch))
    return len(images)


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
    data = _png(hashlib.sha256(filename.encode()).digest())
    sha256 = hashlib.sha256(data).hexdigest()
    # Without renditions: the pages make them when somebody looks.
    _store(original_name(sha256), data)
    return Image(sha256=sha256, width=WIDTH, height=HEIGHT, format="PNG", byte_size=len(data))


def _png(colours: bytes) -> bytes:
    """Return a picture with the first of `colours`, three bytes for each pixel, as PNG (ISO/IEC 15948, clause 5).

    A library takes twenty times as long for so small a picture, and there are 83,560 of them.
    """
    row = 3 * WIDTH
    rows = b"".join(b"\0" + colours[row * number : row * (number + 1)] for number in range(HEIGHT))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _store(name: str, data: bytes) -> None:
    """Store a small file, which appears whole or not at all. In a folder without what Django's storage asks before each
    write, which takes ten times as long as the writing."""
    if not isinstance(default_storage, FileSystemStorage):
        if not default_storage.exists(name):
            default_storage.save(name, ContentFile(data))
        return
    path = Path(default_storage.location) / name
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        file = os.open(unfinished, NEW_FILE, READABLE)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(unfinished, NEW_FILE, READABLE)
    os.write(file, data)
    os.close(file)
    unfinished.replace(path)

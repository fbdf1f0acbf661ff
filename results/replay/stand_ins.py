"""Pictures that stand in for the images of a source that is shipped without them: tiny, all different, and labelled."""

import hashlib
import io

import PIL.Image
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from results.replay.progress import Progress
from studies.actions.images import is_stored, original_name
from studies.models import Image, Instance, InstanceImage, Project

GENERATOR = "replay stand-in"
SOURCE = "Drawn by the replay in place of an image that the manifest names but nobody has put there."
WIDTH, HEIGHT = 4, 2
BATCH = 200


def fill_with_stand_ins(*, project: Project, photo_role: str, photo_key: str, progress: Progress) -> int:
    """Give every place of the project that waits for an image a stand-in; return how many were drawn.

    Each instance gets a photo in `photo_role` too, under the name that its reference has as `photo_key`.
    """
    without = Instance.objects.filter(project=project).exclude(images__role=photo_role)
    photos = [
        InstanceImage(instance=instance, role=photo_role, filename=str(instance.reference[photo_key]))
        for instance in without.iterator()
    ]
    InstanceImage.objects.bulk_create(photos, batch_size=BATCH)
    waiting = InstanceImage.objects.filter(instance__project=project, image=None).order_by("pk")
    progress.begin("stand-ins", waiting.count())
    drawn: set[str] = set()
    while places := list(waiting[:BATCH]):
        images = {place.filename: stand_in(place.filename) for place in places}
        Image.objects.bulk_create(images.values(), ignore_conflicts=True)
        for place in places:
            place.image, place.source, place.generator = images[place.filename], SOURCE, GENERATOR
            place.licence = ""
        InstanceImage.objects.bulk_update(places, ["image", "source", "licence", "generator"])
        drawn |= images.keys()
        progress.step(len(places))
    return len(drawn)


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

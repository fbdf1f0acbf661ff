"""Images uploaded one by one, named by the SHA-256 of their bytes, before the rows that show them."""

import errno
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from making.models import Candidate
from studies.actions.images import check_and_store, facts_of, is_stored, names_of, original_name, remove_unused
from studies.actions.imports.import_state import UnusableImage
from studies.actions.imports.uploads import NEARLY_FULL
from studies.errors import StudyError
from studies.importing.parts import parse_part
from studies.importing.pictures import NotAPicture, cut
from studies.models import Image, InstanceImage, Project
from workspace.models import UploadedImage

# Longer lists are queried in several statements: databases limit the values of one.
BATCH = 1000
# How long an image waits for a row that shows it.
KEPT_FOR = timedelta(days=30)


class UploadRefused(Exception):
    """The image was not stored; the message is a sentence for the sender."""


def upload_image(*, project: Project, sha256: str, data: bytes, uploader: User, now: datetime) -> tuple[Image, bool]:
    """Store an image for a project; return it, and whether it is new to the project.

    Raises UploadRefused if the bytes do not have this `sha256` or are no image, and StudyError if the disk is full.
    """
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise UploadRefused(f"The image has the SHA-256 {found}, not that of the address. Send it again.")
    try:
        _, facts = check_and_store(data, keep=True, on_write=lambda _: None)
        with transaction.atomic():
            image, _ = Image.objects.get_or_create(
                sha256=sha256,
                defaults={
                    "width": facts.width,
                    "height": facts.height,
                    "format": facts.format,
                    "placeholder": facts.placeholder,
                    "byte_size": len(data),
                },
            )
            told = {"uploaded_by": uploader, "uploaded_at": now}
            # Sent again: it waits again for rows that show it.
            _, is_new = UploadedImage.objects.update_or_create(project=project, image=image, defaults=told)
        # A failed import deletes files that no row names; this row now names the file.
        check_and_store(data, keep=True, on_write=lambda _: None)
    except NotAPicture as error:
        raise UploadRefused(str(error)) from error
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise StudyError(NEARLY_FULL) from error
        raise
    return image, is_new


def existing_images(project: Project, names: Iterable[str]) -> set[str]:
    """Return which of these SHA-256 names the project has: uploaded to it, or used by its instances."""
    wanted, found = list(dict.fromkeys(names)), set[str]()
    for start in range(0, len(wanted), BATCH):
        batch = wanted[start : start + BATCH]
        uploaded = UploadedImage.objects.filter(project=project, image__in=batch)
        used = InstanceImage.objects.filter(instance__project=project, image__in=batch)
        found |= set(uploaded.values_list("image_id", flat=True)) | set(used.values_list("image_id", flat=True))
    return found


def missing_images(project: Project, names: Iterable[str]) -> list[str]:
    """Return the names that have to be uploaded, in order, each once."""
    wanted = list(dict.fromkeys(names))
    there = existing_images(project, wanted)
    return [name for name in wanted if name not in there or not is_stored(name)]


def discard_unused(*, now: datetime) -> int:
    """Remove images uploaded long ago that no row of their project shows; return how many.

    An image that other projects use or have is removed from this project only. An import that misses one names it, and
    it can be sent again.
    """
    shown_here = InstanceImage.objects.filter(instance__project=OuterRef("project"), image=OuterRef("image"))
    unused = UploadedImage.objects.filter(~Exists(shown_here), uploaded_at__lt=now - KEPT_FOR)
    names = list(unused.values_list("image_id", flat=True).distinct())
    for start in range(0, len(names), BATCH):
        _discard(unused.filter(image__in=names[start : start + BATCH]), names[start : start + BATCH])
    return len(names)


def _discard(unused: QuerySet[UploadedImage], names: Sequence[str]) -> None:
    with transaction.atomic():
        files = delete_uses(unused, names)
    remove_unused(files)


def delete_uses(
    uses: QuerySet[UploadedImage] | QuerySet[InstanceImage] | QuerySet[Candidate], names: Sequence[str]
) -> list[str]:
    """Delete `uses` of the images `names`, and those of the images that have no other use; call in a transaction.

    Returns the files of the deleted images, for `remove_unused` after the transaction.
    """
    # Whoever uploads one of them, or imports rows that show it, waits; then it is in use, or created again.
    images = Image.objects.select_for_update().filter(pk__in=names).order_by("pk")
    files = {image.pk: names_of(image.pk, facts_of(image)) for image in images}
    uses.delete()
    elsewhere = UploadedImage.objects.filter(image=OuterRef("pk"))
    shown = InstanceImage.objects.filter(image=OuterRef("pk"))
    made = Candidate.objects.filter(image=OuterRef("pk"))
    gone = list(images.filter(~Exists(elsewhere), ~Exists(shown), ~Exists(made)).values_list("pk", flat=True))
    Image.objects.filter(pk__in=gone).delete()
    return [file for sha256 in gone for file in files[sha256]]


class UploadedImages:
    """Image source of an import: maps file names in the rows to uploaded SHA-256 names."""

    remedy = "Upload it and name it in `images`, or let it wait with `images_later`."

    def __init__(self, project: Project, names: Mapping[str, str]) -> None:
        self._names = names
        self._there = existing_images(project, names.values())

    def read(self, filename: str) -> bytes | UnusableImage:
        """Return the bytes of the image that a row calls `filename`, or the reason why it cannot be had."""
        part = parse_part(filename) if filename not in self._names else None
        sha256 = self._names.get(part.file if part else filename)
        if sha256 is None:
            return UnusableImage(f"No image was uploaded as {filename}.", absent=True)
        if sha256 not in self._there:
            return UnusableImage(f"The image {sha256} of {filename} was not uploaded to this project.", absent=True)
        try:
            with default_storage.open(original_name(sha256)) as file:
                data: bytes = file.read()
            return cut(data, part.box, max_pixels=settings.IMAGE_MAX_PIXELS) if part else data
        except FileNotFoundError:
            return UnusableImage(f"The storage has lost the image of {filename}. Upload it again.")
        except NotAPicture as error:
            return UnusableImage(f"{filename}: {error}")

"""Store the bytes of an image that a worker made, and remove those that nobody needs."""

from collections.abc import Collection
from dataclasses import asdict

from django.db import transaction
from django.db.models import ProtectedError, RestrictedError

from making.errors import CannotStore
from studies.actions.images import check_and_store, facts_of, names_of, remove_unused
from studies.models import Image

# Rejected images of a stage whose bytes are stored, as samples.
MOST_REJECTED = 50


def store_image(data: bytes) -> Image:
    """Store the bytes of an image with its renditions, once, and return its row. Raises NotAPicture and CannotStore."""
    try:
        sha256, facts = check_and_store(data, keep=True, on_write=lambda _: None)
    except OSError as error:
        raise CannotStore(
            f"The site cannot store an image ({error.strerror or error}). Make room on its disk, or mend its media "
            "folder; then continue."
        ) from error
    return Image.objects.get_or_create(pk=sha256, defaults={"byte_size": len(data), **asdict(facts)})[0]


def remove_images(names: Collection[str]) -> None:
    """Remove the images (SHA-256) that nothing shows or names any more, with their files."""
    files: list[str] = []
    for image in Image.objects.filter(pk__in=names):
        try:
            with transaction.atomic():
                Image.objects.filter(pk=image.pk).delete()
        except (ProtectedError, RestrictedError):
            continue
        files += names_of(image.pk, facts_of(image))
    transaction.on_commit(lambda: remove_unused(files))

"""Picture storage: original bytes by SHA-256, stored once, and renditions for pages.

Every stored picture has been fully decoded before. Files appear atomically and are never overwritten with other
content.
"""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from logging import getLogger
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage

from studies.importing.pictures import (
    SIZES,
    NotAPicture,
    PictureFacts,
    decode,
    measure,
    render,
    served_size,
    stored_sizes,
)
from studies.models import Image

logger = getLogger(__name__)


class NoSuchPicture(Exception):
    """There is no picture to show; the message is for the person who requested it."""


class ImageFileMissing(NoSuchPicture):
    """The picture is in the database, but the storage has no valid file."""


def original_name(sha256: str) -> str:
    return f"images/{sha256[:2]}/{sha256}"


def rendition_name(sha256: str, size: str) -> str:
    return f"renditions/{sha256[:2]}/{sha256}/{size}.webp"


def facts_of(image: Image) -> PictureFacts:
    """Return the facts measured when the picture was imported."""
    return PictureFacts(image.width, image.height, image.format)


def names_of(sha256: str, facts: PictureFacts) -> list[str]:
    """Return the storage names of all files of a picture."""
    return [original_name(sha256), *(rendition_name(sha256, size) for size in stored_sizes(facts))]


def is_stored(sha256: str) -> bool:
    return default_storage.exists(original_name(sha256))


def check_and_store(data: bytes, *, keep: bool, on_write: Callable[[str], None]) -> tuple[str, PictureFacts]:
    """Check the bytes of a picture; return its SHA-256 and facts. Raises NotAPicture.

    keep: also store the original and its renditions, unless the original is stored already. on_write: called with the
    storage name of every new file. Thread-safe.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    if is_stored(sha256):
        return sha256, measure(data, max_pixels=settings.IMAGE_MAX_PIXELS)
    facts, pixels = decode(data, max_pixels=settings.IMAGE_MAX_PIXELS)
    if keep:
        for size in reversed(stored_sizes(facts)):
            _write_new(rendition_name(sha256, size), render(pixels, size), on_write)
        # The original is written last: if it exists, the picture was checked and rendered completely.
        _write_new(original_name(sha256), data, on_write, lasting=True)
    return sha256, facts


def rendition(*, sha256: str, size: str) -> str:
    """Return the storage name of the rendition for `size`; make it if missing. Raises NoSuchPicture."""
    try:
        return _rendition(sha256, size)
    except ImageFileMissing:
        logger.error("The file of image %s is gone or damaged: import it again", sha256)
        raise


def _rendition(sha256: str, size: str) -> str:
    image = Image.objects.filter(pk=sha256).first()
    if image is None or size not in SIZES:
        raise NoSuchPicture("There is no such image here. Check the address.")
    served = served_size(size, facts_of(image))
    name = rendition_name(sha256, served)
    if not default_storage.exists(name):
        try:
            with default_storage.open(original_name(sha256)) as file:
                _, pixels = decode(file.read(), max_pixels=settings.IMAGE_MAX_PIXELS)
        except (FileNotFoundError, NotAPicture) as error:
            raise ImageFileMissing(
                "The file of this image is missing. Tell the researcher to import it again."
            ) from error
        _write_new(name, render(pixels, served), lambda _: None)
    return name


def can_be_shown(sha256: str) -> bool:
    """Return whether the storage has the renditions of a picture, or the original to make them from."""
    try:
        with default_storage.open(_rendition(sha256, "view")):
            return True
    except (NoSuchPicture, OSError):
        return False


def remove_unused(names: list[str]) -> None:
    """Remove the given files of pictures that are not in the database."""
    by_picture = {name: Path(name).name if name.startswith("images/") else Path(name).parent.name for name in names}
    known = set(Image.objects.filter(pk__in=set(by_picture.values())).values_list("pk", flat=True))
    for name, sha256 in by_picture.items():
        if sha256 not in known:
            default_storage.delete(name)
            _remove_empty_folders(name)


def _write_new(name: str, data: bytes, on_write: Callable[[str], None], *, lasting: bool = False) -> None:
    """Write a file atomically; an existing file has the same content and stays."""
    if default_storage.exists(name):
        return
    on_write(name)
    if not isinstance(default_storage, FileSystemStorage):
        # S3 and similar storages write objects atomically.
        saved = default_storage.save(name, ContentFile(data))
        if saved != name:
            # Another process wrote the same content first.
            default_storage.delete(saved)
        return
    path = Path(default_storage.path(name))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with unfinished.open("xb") as file:
            file.write(data)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _remove_empty_folders(name: str) -> None:
    if not isinstance(default_storage, FileSystemStorage):
        return
    folder = Path(default_storage.path(name)).parent
    root = Path(default_storage.path(""))
    # A folder that is not empty cannot be removed.
    with suppress(OSError):
        while folder != root:
            folder.rmdir()
            folder = folder.parent

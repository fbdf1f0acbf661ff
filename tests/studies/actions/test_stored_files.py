"""A file is stored whole or not at all."""

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from pytest_django import Settings

from studies.actions.stored_files import save_whole


class OfFullDisk(ContentFile[bytes]):
    """Content for whose second half the disk has no room."""

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        yield b"half"
        raise OSError(errno.ENOSPC, "No space left on device")


def stored(settings: Settings) -> list[str]:
    return [path.name for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]


def test_a_full_disk_leaves_nothing_half_written(settings: Settings) -> None:
    with pytest.raises(OSError, match="No space left"):
        save_whole("exports/1/all.jsonl", OfFullDisk(b""))
    assert stored(settings) == []


def test_whoever_fails_deletes_no_file_of_others(settings: Settings) -> None:
    name = save_whole("exports/1/all.jsonl", ContentFile(b"whole"))
    assert name.startswith("exports/1/all_")
    assert name.endswith(".jsonl")
    with pytest.raises(OSError, match="No space left"):
        save_whole("exports/1/all.jsonl", OfFullDisk(b""))
    assert stored(settings) == [Path(name).name]
    with default_storage.open(name) as file:
        assert file.read() == b"whole"

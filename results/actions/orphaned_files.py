"""Delete files of exports and releases that no row names, because their worker was killed before it could note them."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.core.files.storage import default_storage

from results.models import Export, Release

# Longer than any job or transaction that may still note its file.
KEPT = timedelta(days=1)
FOLDERS = {"exports": Export.objects.all(), "releases": Release.objects.all()}


def discard_orphans(*, now: datetime) -> int:
    """Delete files that are older than a day and that no row names; return how many."""
    discarded = 0
    for folder, rows in FOLDERS.items():
        named = set(rows.exclude(file="").values_list("file", flat=True))
        for file in _stored_files(folder):
            if file not in named and default_storage.get_modified_time(file) < now - KEPT:
                default_storage.delete(file)
                discarded += 1
    return discarded


def _stored_files(folder: str) -> Iterator[str]:
    try:
        folders, _ = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    for each in folders:
        _, files = default_storage.listdir(f"{folder}/{each}")
        yield from (f"{folder}/{each}/{file}" for file in files)

"""Delete files of exports and releases that no row names, because their worker was killed before it could note them."""

from contextlib import suppress
from datetime import datetime, timedelta

from django.core.files.storage import default_storage

from results.models import Export, Release
from studies.actions.stored_files import stored_files

# Longer than any job or transaction that may still note its file.
KEPT = timedelta(days=1)
FOLDERS = {"exports": Export.objects.all(), "releases": Release.objects.all()}


def discard_orphans(*, now: datetime) -> int:
    """Delete files that are older than a day and that no row names; return how many."""
    discarded = 0
    for folder, rows in FOLDERS.items():
        named = set(rows.exclude(file="").values_list("file", flat=True))
        for file in (file for _, files in stored_files(folder) for file in files):
            with suppress(FileNotFoundError):
                if file not in named and default_storage.get_modified_time(file) < now - KEPT:
                    default_storage.delete(file)
                    discarded += 1
    return discarded

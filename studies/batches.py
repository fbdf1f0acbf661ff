"""Many rows, in batches, with progress."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)

Progress = Callable[[str, int, int], None]
"""Progress callback: stage, number done, total (0: unknown)."""


def ignore_progress(*told: object) -> None:
    """Take no notice of a callback."""


def create_in_batches(
    rows: QuerySet[Row], new: Iterable[Row], *, size: int, stage: str, total: int, progress: Progress
) -> None:
    """Create new rows, `size` of them in a statement, and report how many of `total` are made."""
    waiting, done = iter(new), 0
    while batch := list(islice(waiting, size)):
        rows.bulk_create(batch)
        done += len(batch)
        progress(stage, done, total)

"""Create many rows in batches, and report progress."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)

Progress = Callable[[str, int, int], None]
"""Progress callback: stage, number done, total (0: unknown)."""


def ignore_progress(*told: object) -> None:
    """Do nothing; the default progress callback."""


def create_in_batches(
    rows: QuerySet[Row], new: Iterable[Row], *, size: int, stage: str, total: int, progress: Progress
) -> None:
    """Create new rows, `size` per statement, and report how many of `total` have been created."""
    waiting, done = iter(new), 0
    while batch := list(islice(waiting, size)):
        rows.bulk_create(batch)
        done += len(batch)
        progress(stage, done, total)

"""The progress bar of commands that write rows."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import OutputWrapper
from tqdm import tqdm

from results.actions.row_progress import Report


@contextmanager
def progress_bar(name: str, unit: str, out: OutputWrapper) -> Iterator[Report]:
    """Show a bar on `out` in this block, which the yielded function moves."""
    with tqdm(desc=name, unit=unit, file=out, disable=None) as bar:

        def report(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield report

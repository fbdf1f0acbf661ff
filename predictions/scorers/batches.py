"""Batches of one shape, and pictures decoded ahead of the model. Pure, and of no family."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from os import cpu_count
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from predictions.scorers.base import NoPicture

T = TypeVar("T")
MOST_THREADS = 16
# Pictures that are decoded while the model is at earlier ones, in batches.
BATCHES_AHEAD = 2


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of `size`, the last one shorter; nothing is taken from `items` before it is needed."""
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def filled(rows: Sequence[NDArray[Any]], size: int) -> NDArray[Any]:
    """Return the rows, all of one shape, as an array of `size` of them, zeros where there are fewer."""
    stacked = np.zeros((size, *rows[0].shape), dtype=rows[0].dtype)
    for place, row in enumerate(rows):
        stacked[place] = row
    return stacked


def read_ahead(
    names: Sequence[str], read: Callable[[str], NDArray[Any]], *, batch: int, missing: dict[str, NoPicture]
) -> Iterator[list[tuple[str, NDArray[Any]]]]:
    """Yield the names with what was read of them, in lists of `batch`; threads read on meanwhile.

    A name of which `read` raises NoPicture is put into `missing` instead, with the exception.
    """

    def good() -> Iterator[tuple[str, NDArray[Any]]]:
        for name, result in _ahead(names, read, depth=BATCHES_AHEAD * batch):
            try:
                yield name, result()
            except NoPicture as error:
                missing[name] = error

    return in_batches(good(), batch)


def _ahead(
    names: Sequence[str], read: Callable[[str], NDArray[Any]], *, depth: int
) -> Iterator[tuple[str, Callable[[], NDArray[Any]]]]:
    """Yield each name with a function that waits for what was read of it, `depth` names being read ahead."""
    waiting: deque[tuple[str, Future[NDArray[Any]]]] = deque()
    with ThreadPoolExecutor(max_workers=min(MOST_THREADS, cpu_count() or 1)) as threads:
        try:
            for name in names:
                waiting.append((name, threads.submit(read, name)))
                if len(waiting) > depth:
                    first, future = waiting.popleft()
                    yield first, future.result
            for first, future in waiting:
                yield first, future.result
        finally:
            threads.shutdown(cancel_futures=True)

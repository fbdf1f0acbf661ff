"""Score in batches of one shape, halved if memory is short. Pure and independent of model families."""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.feeder import BATCHES_AHEAD, Device, Host, NoPicture, OpenPicture, Reading, shared_feeder
from predictions.scorers.base import ModelIdentity, OutOfMemory, Scorer

T = TypeVar("T")
Vector = NDArray[np.float32]
TRIALS = 2


class BatchedScorer(Scorer):
    """A model that scores `batch` items at once.

    Every batch has the same shape, padded with zeros. For another shape a library may choose another algorithm, which
    gives the same text and image another score. `images_on`: where batches of images go.
    """

    images_on: Device = Host()

    def __init__(self, identity: ModelIdentity, *, batch: int) -> None:
        self.identity = identity
        self.batch = batch
        self.halved = 0

    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """Return the conditions of its scores other than the batch shape, as plain JSON."""

    @abstractmethod
    def preprocess(self, picture: Image.Image) -> Any:
        """Return the image as the model takes it. Called from threads.

        A model that takes several at once needs arrays of one shape and type, best of 8-bit numbers, which the device
        normalizes.
        """

    @abstractmethod
    def tokenize(self, text: str) -> NDArray[Any]:
        """Return the text as the model takes it; a model that takes several at once needs one shape."""

    @abstractmethod
    def score_in_batches(
        self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture
    ) -> Sequence[float | NoPicture]:
        """See `Scorer.score`; in batches of the present size. Raises OutOfMemory if one does not fit."""

    @abstractmethod
    def try_batch(self, picture: Any) -> int:
        """Compute one batch of copies of this preprocessed image, without storing anything; return its size.

        Raises OutOfMemory.
        """

    def forget(self) -> None:
        """Drop stored results of earlier batches, because they were computed in another shape."""

    def conditions(self) -> Mapping[str, Any]:
        in_doubt = {"tolerance": self.tolerance} if self.tolerance else {}
        return {**self.facts(), **in_doubt, "batch": self.batch, "halved": self.halved}

    def score(self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture) -> Sequence[float | NoPicture]:
        """See `Scorer.score`. Starts again with half the batch if one does not fit."""
        return self._retry_smaller(lambda: self.score_in_batches(pairs, open_picture))

    def read_ahead(self, names: Sequence[str], open_picture: OpenPicture) -> AbstractContextManager[OpenPicture]:
        return closing(self.read_pictures(names, open_picture))

    def read_pictures(self, names: Iterable[str], open_picture: OpenPicture) -> Reading[Any]:
        """Begin to read images, each name once, and to preprocess them in threads."""
        return shared_feeder().read(names, open_picture, self.preprocess, ahead=BATCHES_AHEAD * self.images_at_once)

    @property
    def images_at_once(self) -> int:
        return self.batch

    def pictures_per_second(self) -> float:
        """See `Scorer.pictures_per_second`. The first batch is not timed."""
        blank = self.preprocess(Image.new("RGB", (640, 480), "grey"))

        def measure() -> float:
            return max([self._speed(blank) for _ in range(1 + TRIALS)][1:])

        return self._retry_smaller(measure)

    def _retry_smaller(self, work: Callable[[], T]) -> T:
        """Return the result of `work`; halve the batch and retry while memory is short.

        Raises OutOfMemory if even a batch of one does not fit.
        """
        while True:
            try:
                return work()
            except OutOfMemory:
                if self.batch == 1:
                    raise
            self.batch //= 2
            self.halved += 1
            self.forget()

    def _speed(self, blank: Any) -> float:
        begun = perf_counter()
        pictures = self.try_batch(blank)
        return pictures / max(perf_counter() - begun, 1e-6)


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in lists of `size`, the last one shorter; takes items only as needed."""
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def pad_rows(rows: Sequence[NDArray[Any]], size: int) -> NDArray[Any]:
    """Return rows of one shape as an array of `size` rows, padded with zeros."""
    stacked = np.zeros((size, *rows[0].shape), dtype=rows[0].dtype)
    for place, row in enumerate(rows):
        stacked[place] = row
    return stacked


def texts_by_picture(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, None]]:
    """Return image -> its texts, each once, in order of appearance."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for text, picture in pairs:
        found[picture][text] = None
    return found

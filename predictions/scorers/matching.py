"""Models that read a text and an image together and score whether they match.

The states of an image are computed once and used with all its texts. Pure: subclasses use the library.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictions.scorers.base import NoPicture, OpenPicture
from predictions.scorers.batches import BatchedScorer, in_batches, pad_rows, read_ahead, texts_by_picture


class Matching(BatchedScorer):
    """A model with an image tower, whose states a second tower reads together with a text."""

    @abstractmethod
    def look(self, batch: NDArray[Any]) -> Any:
        """Return the states of a batch of images for `match`, one row each. Raises OutOfMemory."""

    @abstractmethod
    def match(self, states: Any, places: Sequence[int], texts: NDArray[Any]) -> NDArray[np.float32]:
        """Return for each text of a batch how well it matches the image whose states are at its position.

        Higher is better. Raises OutOfMemory.
        """

    def try_batch(self, picture: NDArray[Any]) -> int:
        states = self.look(np.stack([picture] * self.batch))
        return len(self.match(states, range(self.batch), np.stack([self.tokenize("a grey wall")] * self.batch)))

    def score_in_batches(
        self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture
    ) -> Sequence[float | NoPicture]:
        texts_of = texts_by_picture(pairs)
        gone: dict[str, NoPicture] = {}
        found: dict[tuple[str, str], float] = {}
        for batch in read_ahead(
            texts_of, lambda name: self.preprocess(open_picture(name)), batch=self.batch, missing=gone
        ):
            states = self.look(pad_rows([pixels for _, pixels in batch], self.batch))
            asked = [(text, picture, place) for place, (picture, _) in enumerate(batch) for text in texts_of[picture]]
            for some in in_batches(asked, self.batch):
                texts = pad_rows([self.tokenize(text) for text, _, _ in some], self.batch)
                places = [place for _, _, place in some] + [0] * (self.batch - len(some))
                scores = self.match(states, places, texts)
                for (text, picture, _), score in zip(some, scores[: len(some)], strict=True):
                    found[text, picture] = float(score)
        return [gone[picture] if picture in gone else found[text, picture] for text, picture in pairs]

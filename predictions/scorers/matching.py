"""Models that read a text and an image together and score whether they match.

The states of an image are computed once and used with all its texts. Pure: subclasses use the library.
"""

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictions.feeder import NoPicture, OpenPicture
from predictions.scorers.batches import BatchedScorer, in_batches, pad_rows, texts_by_picture


class Matching(BatchedScorer):
    """A model with an image tower, whose states a second tower reads together with a text."""

    @abstractmethod
    def look(self, batch: Any) -> Any:
        """Return the states of a batch of images for `match`, one row each. Raises OutOfMemory.

        batch: an array of preprocessed images, or what `images_on` makes of it.
        """

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
        reading = self.read_pictures(texts_of, open_picture)
        with closing(reading.batches(self.batch, self.images_on, gone)) as batches:
            for batch in batches:
                states = self.look(batch.rows)
                asked = [(text, name, place) for place, name in enumerate(batch.names) for text in texts_of[name]]
                for some in in_batches(asked, self.batch):
                    texts = pad_rows([self.tokenize(text) for text, _, _ in some], self.batch)
                    places = [place for _, _, place in some] + [0] * (self.batch - len(some))
                    scores = self.match(states, places, texts)
                    for (text, name, _), score in zip(some, scores[: len(some)], strict=True):
                        found[text, name] = float(score)
        return [gone[picture] if picture in gone else found[text, picture] for text, picture in pairs]

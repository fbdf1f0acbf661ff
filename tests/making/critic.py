"""Filters that stand on a model, for the tests of what carries messages: the model knows words that it dislikes.

`critic` judges texts, `looker` images by what they were made from. `broken: true` cannot be loaded. The worker under
test knows them by `tests.making.with_painter`; in its second batch it waits at the gate of `tests.making.painter`.
"""

from collections.abc import Sequence
from typing import ClassVar

from making.errors import CannotMake
from making.filters.base import (
    CandidateImage,
    FilterIdentity,
    FilterInput,
    LoadedFilter,
    ModelFilter,
    Verdict,
)
from predictions.scorers import OpenPicture
from tests.making.painter import STOPS_IN, wait_at_the_gate

UNLOADABLE = "The critic is broken. Mend it."
DISLIKED = "The critic dislikes it."


class Critic(ModelFilter):
    """Reject texts with the word `dislikes`; a score is the number of letters, as a share of 100."""

    version: ClassVar[str] = "1"

    dislikes: str = "bad"
    broken: bool = False

    def load(self) -> LoadedFilter:
        if self.broken:
            raise CannotMake(UNLOADABLE)
        return LoadedCritic(self.dislikes)


class Looker(Critic):
    """Reject images of a text with the word `dislikes`, and those that have the rival."""

    of_texts: ClassVar[bool] = False
    of_images: ClassVar[bool] = True

    @property
    def rival_role(self) -> str:
        return "rival"


class LoadedCritic(LoadedFilter):
    identity = FilterIdentity("1; critic", "1" * 64)

    def __init__(self, dislikes: str = "bad") -> None:
        self._dislikes = dislikes
        self._batches = 0

    def judge(self, candidates: Sequence[FilterInput], open_picture: OpenPicture) -> list[Verdict]:
        self._batches += 1
        if self._batches == STOPS_IN:
            wait_at_the_gate()
        return [self._verdict(each) for each in candidates]

    def _verdict(self, candidate: FilterInput) -> Verdict:
        other = candidate.rival if isinstance(candidate, CandidateImage) else candidate.parent
        bad = self._dislikes in candidate.text or (isinstance(candidate, CandidateImage) and "bad" in candidate.rival)
        score = len(candidate.text) / 100
        return Verdict(DISLIKED if bad else "", score, len(other) / 100 - score)

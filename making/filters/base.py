"""Interface of filters: they reject candidates that must not be shown to people. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from making.options import Options


@dataclass(frozen=True, slots=True)
class CandidateText:
    """A text to filter, and the text that it was made from."""

    text: str
    parent: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a filter on a candidate. `reason`: why it is rejected, as a sentence; "" if it passes.

    `score`: what the filter measured, in its own unit; None if it measures nothing.
    """

    reason: str = ""
    score: float | None = None


class Filter(Options, ABC):
    """A filter; its fields are its options in a pipeline file. `version`: a change of its verdicts gets the next."""

    version: ClassVar[str]

    @abstractmethod
    def judge(self, candidates: Sequence[CandidateText], known: Collection[str]) -> Sequence[Verdict]:
        """Return a verdict for each candidate, in their order.

        `known`: texts that exist already, each as `making.texts.comparable` writes it: captions of the project, and
        earlier candidates of the stage that were kept.
        """

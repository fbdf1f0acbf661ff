"""Interface of filters: they reject candidates that must not be shown to people. Pure.

A filter is one of three: `Filter` judges texts on the site, a batch at a time; `ModelFilter` judges texts or images on
a worker with models; `StageFilter` judges all candidates of a stage at once, on the site.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from making.options import Options
from predictions.image_sets.embeddings import Embedding, Vectors
from predictions.scorers import OpenPicture


@dataclass(frozen=True, slots=True)
class CandidateText:
    """A text to filter, and the text that it was made from.

    `start`: the key of the instance that its chain began with, and `start_text` that instance's text. `scores`: what
    the filters before this one measured, as `Candidate.scores` stores it. Only a `StageFilter` gets these three.
    """

    text: str
    parent: str
    start: str = ""
    start_text: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CandidateImage:
    """An image to filter, by the SHA-256 of its bytes, and the text that it was made from.

    `rival`: the caption in the role `ModelFilter.rival_role` of the instance that its chain began with; "" without one.
    """

    image: str
    text: str
    rival: str = ""


def gap_name(name: str) -> str:
    """Return the name under which the gaps of the filter called `name` are stored, beside its scores."""
    return f"{name} gap"


FilterInput = CandidateText | CandidateImage


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a filter on a candidate. `reason`: why it is rejected, as a sentence; "" if it passes.

    `score`: what the filter measured, in its own unit; None if it measures nothing. `gap`: the score of the text that
    it was made from minus its own; None if that was not measured.
    """

    reason: str = ""
    score: float | None = None
    gap: float | None = None


class BaseFilter(Options, ABC):
    """What all filters have; the fields are the options in a pipeline file.

    `version`: a change of its verdicts gets the next. `of_texts`, `of_images`: what it can judge.
    """

    version: ClassVar[str]
    of_texts: ClassVar[bool] = True
    of_images: ClassVar[bool] = False

    @property
    def measured_by(self) -> Sequence[str]:
        """Return the names of filters that must come before it in its stage, because it uses their scores."""
        return ()


class Filter(BaseFilter):
    """A filter that judges texts on the site, a batch at a time. `reads_known`: whether it looks at `known`."""

    reads_known: ClassVar[bool] = True

    @abstractmethod
    def judge(self, candidates: Sequence[CandidateText], known: Collection[str]) -> Sequence[Verdict]:
        """Return a verdict for each candidate, in their order.

        `known`: those of the candidates' texts that exist already, each as `making.texts.comparable` writes it:
        captions of the project, and earlier candidates of the stage that were not rejected.
        """


@dataclass(frozen=True, slots=True)
class FilterIdentity:
    """What judged: `version` of Lineup's method and its libraries, `weights` the SHA-256 of its model's numbers."""

    version: str
    weights: str = ""


class LoadedFilter(ABC):
    """A filter whose model is ready."""

    identity: FilterIdentity

    @abstractmethod
    def judge(self, candidates: Sequence[FilterInput], open_picture: OpenPicture) -> Sequence[Verdict]:
        """Return a verdict for each candidate, in their order. Raises CannotMake if it cannot judge one of them."""


class ModelFilter(BaseFilter):
    """A filter that stands on a model, and judges on a worker with models.

    `load` imports heavy libraries itself, because the site imports this folder too.
    """

    @property
    def rival_role(self) -> str:
        """Return the role of the caption that images are compared with, "" for none."""
        return ""

    @abstractmethod
    def load(self) -> LoadedFilter:
        """Return the filter with its model. Raises CannotMake."""


@dataclass(frozen=True, slots=True)
class StageContext:
    """What a `StageFilter` may look at beside the candidates.

    `known_texts` yields the captions of the project. `known_set` yields the texts of a known test set by its name, and
    raises CannotMake if the site has none of this name. `open_picture` opens a stored image by its SHA-256, small.
    `known_vectors` yields blocks of names (SHA-256) and vectors of the images of the project's instances.
    """

    known_texts: Callable[[], Iterator[str]]
    known_set: Callable[[str], Iterator[str]]
    open_picture: OpenPicture
    known_vectors: Callable[[Embedding], Iterator[tuple[Sequence[str], Vectors]]]


@dataclass(frozen=True, slots=True)
class StageVerdicts:
    """What a filter says of all candidates of a stage.

    `verdicts`: one for each, in their order. `note`: what it found about the stage as a whole, as a sentence; "" for
    nothing. `stop`: why the pipeline must stop here, as a sentence; "" if it may go on.
    """

    verdicts: Sequence[Verdict]
    note: str = ""
    stop: str = ""


class StageFilter(BaseFilter):
    """A filter that must see all candidates of a stage at once."""

    @abstractmethod
    def judge_stage(self, candidates: Sequence[FilterInput], context: StageContext) -> StageVerdicts:
        """Judge the candidates that no earlier filter rejected, in the order in which they were made.

        Raises CannotMake if it cannot judge.
        """

"""Reject images that do not show what their caption says, as a model that scores images and texts finds."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from making.errors import CannotMake
from making.filters.base import (
    CandidateImage,
    FilterIdentity,
    FilterInput,
    LoadedFilter,
    ModelFilter,
    Verdict,
)
from predictions.scorers import NoPicture, OpenPicture, Scorer, problem_with_spec, scorer_of


def _check_spec(spec: str) -> str:
    if problem := problem_with_spec(spec):
        raise ValueError(problem)
    return spec


class Shows(ModelFilter):
    """Reject images with too low a score for their caption, or no higher one than for another caption.

    `scorer`: a model as in `docs/predictions.md`, such as open_clip:ViT-B-32/openai; its scores have their own scale.
    `at_least`: the lowest score. `rival`: a role of the instance that the pipeline began with, whose caption must have
    a lower score.
    """

    version: ClassVar[str] = "1"
    of_texts: ClassVar[bool] = False
    of_images: ClassVar[bool] = True

    scorer: Annotated[str, AfterValidator(_check_spec)]
    at_least: float | None = None
    rival: str = Field(default="", max_length=30)

    @model_validator(mode="after")
    def _check_bound(self) -> Self:
        if self.at_least is None and not self.rival:
            raise ValueError("Set `at_least`, a score, or `rival`, the role of another caption, or both.")
        return self

    @property
    def rival_role(self) -> str:
        return self.rival

    def load(self) -> LoadedFilter:
        return _Loaded(self, scorer_of(self.scorer))


class _Loaded(LoadedFilter):
    def __init__(self, options: Shows, scorer: Scorer) -> None:
        self._options, self._scorer = options, scorer
        known = scorer.identity
        named = " ".join(filter(None, (known.name, known.version)))
        self.identity = FilterIdentity(f"{options.version}; {named}"[:200], known.weights)

    def judge(self, candidates: Sequence[FilterInput], open_picture: OpenPicture) -> list[Verdict]:
        images = [each for each in candidates if isinstance(each, CandidateImage)]
        pairs = [(text, each.image) for each in images for text in (each.text, each.rival) if text]
        distinct = list(dict.fromkeys(pairs))
        scores: dict[tuple[str, str], float] = {}
        for pair, score in zip(distinct, self._scorer.score(distinct, open_picture) if distinct else (), strict=True):
            if isinstance(score, NoPicture):
                raise CannotMake(str(score)) from score
            scores[pair] = float(score)
        return [
            self._verdict(scores.get((each.text, each.image)), scores.get((each.rival, each.image))) for each in images
        ]

    def _verdict(self, score: float | None, rival: float | None) -> Verdict:
        reason, least = "", self._options.at_least
        if score is None:
            return Verdict("Its caption is empty.")
        if least is not None and score < least:
            reason = f"Its score for its caption is below {least:g}."
        elif rival is not None and score <= rival:
            reason = f"Its score for its caption is not above that for the {self._options.rival}."
        return Verdict(reason, score, None if rival is None else rival - score)

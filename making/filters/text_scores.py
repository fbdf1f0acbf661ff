"""What filters have in common that reject texts with a low score of a model (`making.text_models`). Pure."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from making.errors import CannotMake
from making.filters.base import CandidateText, FilterIdentity, FilterInput, LoadedFilter, ModelFilter, Verdict
from making.text_models import TextModel, load_text_model, problem_with_text_model
from predictions.scorers import OpenPicture


def _check_spec(spec: str) -> str:
    if problem := problem_with_text_model(spec):
        raise ValueError(problem)
    return spec


TextModelSpec = Annotated[str, AfterValidator(_check_spec)]


class TextScoreFilter(ModelFilter):
    """A filter that scores texts, and the texts that they were made from, by a model; 0 to 1, higher is better.

    `label`: the label of a classifier that is good. `at_least`: a lower score is rejected; None for any. `margin`: a
    score lower than that of the text that it was made from by more than this is rejected; None for any. Without both it
    only measures. `quality`: what the score is about, for its sentences.
    """

    quality: ClassVar[str]

    model: TextModelSpec
    label: str = Field(default="", max_length=100)
    at_least: float | None = Field(default=None, ge=0, le=1)
    margin: float | None = Field(default=None, ge=0, le=1)

    def load(self) -> LoadedFilter:
        return _Loaded(self, load_text_model(self.model, self.label))

    def verdict(self, score: float, parent: float) -> Verdict:
        reason = ""
        if self.at_least is not None and score < self.at_least:
            reason = f"Its {self.quality} is below {self.at_least:g}."
        elif self.margin is not None and score < parent - self.margin:
            than = f" by more than {self.margin:g}" if self.margin else ""
            reason = f"Its {self.quality} is below that of the text that it was made from{than}."
        return Verdict(reason, score, parent - score)


class _Loaded(LoadedFilter):
    def __init__(self, options: TextScoreFilter, model: TextModel) -> None:
        self._options, self._model = options, model
        self.identity = FilterIdentity(f"{options.version}; {model.libraries}", model.weights)

    def judge(self, candidates: Sequence[FilterInput], open_picture: OpenPicture) -> list[Verdict]:
        texts = texts_of(candidates)
        # Many texts are made from one.
        distinct = list(dict.fromkeys(text for each in texts for text in (each.text, each.parent)))
        scores = dict(zip(distinct, self._model.scores(distinct), strict=True))
        return [self._options.verdict(scores[each.text], scores[each.parent]) for each in texts]


def texts_of(candidates: Sequence[FilterInput]) -> list[CandidateText]:
    """Return candidates that are texts. Raises CannotMake for an image."""
    texts = [each for each in candidates if isinstance(each, CandidateText)]
    if len(texts) < len(candidates):
        raise CannotMake("This filter reads texts, and was given images.")
    return texts

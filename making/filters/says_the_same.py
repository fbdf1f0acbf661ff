"""Reject texts that mean the same as the text that they were made from: they are no negatives."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from making.filters.base import FilterIdentity, FilterInput, LoadedFilter, ModelFilter, Verdict
from making.filters.text_scores import texts_of
from making.text_models import PairModel, load_pair_model, problem_with_text_model
from predictions.scorers import OpenPicture

REASON = "It means the same as the text that it was made from."


def _check_spec(spec: str) -> str:
    if problem := problem_with_text_model(spec, pairs=True):
        raise ValueError(problem)
    return spec


class SaysTheSame(ModelFilter):
    """Reject texts that mean the same as the text that they were made from, by a named model.

    `nli:NAME`: both texts entail each other, each with a probability of `at_least` this much. `similarity:NAME`: the
    cosine of their vectors is `at_least` this much.
    """

    version: ClassVar[str] = "1"

    model: Annotated[str, AfterValidator(_check_spec)]
    at_least: float = Field(default=0.5, gt=0, le=1)

    def load(self) -> LoadedFilter:
        return _Loaded(self, load_pair_model(self.model))


class _Loaded(LoadedFilter):
    def __init__(self, options: SaysTheSame, model: PairModel) -> None:
        self._options, self._model = options, model
        self.identity = FilterIdentity(f"{options.version}; {model.libraries}", model.weights)

    def judge(self, candidates: Sequence[FilterInput], open_picture: OpenPicture) -> list[Verdict]:
        scores = self._model.scores([(each.parent, each.text) for each in texts_of(candidates)])
        return [Verdict(REASON if score >= self._options.at_least else "", score) for score in scores]

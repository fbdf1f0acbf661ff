"""Reject texts that a model finds toxic."""

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from making.filters.base import FilterIdentity, FilterInput, LoadedFilter, ModelFilter, Verdict
from making.filters.text_scores import TextModelSpec, texts_of
from making.text_models import TextModel, load_text_model
from predictions.scorers import OpenPicture


class Toxicity(ModelFilter):
    """Reject texts to which a named model gives a label, such as toxic, with a probability above `at_most`."""

    version: ClassVar[str] = "1"

    model: TextModelSpec
    label: str = Field(default="toxic", min_length=1, max_length=100)
    at_most: float = Field(default=0.5, ge=0, lt=1)

    def load(self) -> LoadedFilter:
        return _Loaded(self, load_text_model(self.model, self.label))


class _Loaded(LoadedFilter):
    def __init__(self, options: Toxicity, model: TextModel) -> None:
        self._options, self._model = options, model
        self.identity = FilterIdentity(f"{options.version}; {model.libraries}", model.weights)

    def judge(self, candidates: Sequence[FilterInput], open_picture: OpenPicture) -> list[Verdict]:
        scores = self._model.scores([each.text for each in texts_of(candidates)])
        reason = f"It is {self._options.label} with a probability above {self._options.at_most:g}."
        return [Verdict(reason if score > self._options.at_most else "", score) for score in scores]

"""Reject texts with too few or too many words."""

from collections.abc import Collection, Sequence
from typing import ClassVar, Self

from pydantic import Field, model_validator

from making.filters.base import CandidateText, Filter, Verdict
from making.texts import words_of


class Length(Filter):
    """Reject texts with fewer than `at_least` or more than `at_most` words."""

    version: ClassVar[str] = "1"
    reads_known: ClassVar[bool] = False

    at_least: int = Field(default=1, ge=1)
    at_most: int = Field(default=1_000, ge=1)

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.at_least > self.at_most:
            raise ValueError(f"A text cannot have at least {self.at_least} and at most {self.at_most} words.")
        return self

    def judge(self, candidates: Sequence[CandidateText], known: Collection[str]) -> list[Verdict]:
        return [self._judge(len(words_of(candidate.text))) for candidate in candidates]

    def _judge(self, words: int) -> Verdict:
        if words < self.at_least:
            return Verdict(f"It is shorter than {self.at_least} words.", words)
        if words > self.at_most:
            return Verdict(f"It is longer than {self.at_most} words.", words)
        return Verdict("", words)

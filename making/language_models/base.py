"""Interface of language models: prompts go in, texts come out. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from making.tokens import Tokens

# The reason of a refusal.
TOO_LONG = "The text is too long for the language model."


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model writes.

    `temperature`: 0 takes the most probable token each time. `max_tokens`: the longest answer. `seconds`: the time
    limit of an answer. `schema`: the JSON Schema of an answer, for servers that can keep to one.
    """

    temperature: float
    max_tokens: int
    seconds: float
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is told. `seed` decides every random choice of its answer."""

    text: str
    seed: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model wrote.

    `is_cut`: it had not ended after `max_tokens`, or after `seconds`. `is_declined`: it refused to write.
    """

    text: str
    tokens: Tokens
    is_cut: bool = False
    is_declined: bool = False


class Failure(Enum):
    """What follows when a model gives no answer."""

    # Asking again gives nothing else.
    REFUSED = "refused"
    # Asking again may help; if not, the text is at fault.
    FAILED = "failed"
    # The model answers others at the moment, and this text later.
    BUSY = "busy"
    # Asking again may help; if not, no text is at fault.
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """A model did not answer; `reason` is a sentence. `wait`: ask again after so many seconds, 0 if it does not say."""

    reason: str
    failure: Failure
    wait: float = 0


class LanguageModel(ABC):
    """A language model that is ready. `version`: of its libraries. `weights`: their SHA-256, "" if nobody can know."""

    version: str
    weights: str = ""

    @abstractmethod
    def answer(self, prompts: Sequence[Prompt]) -> Sequence[Answer | NoAnswer]:
        """Return an answer to each prompt, in their order. Raises CannotMake if it can answer none."""

"""Interface of makers: they make texts or images out of texts. Pure.

Each maker is one file of this folder. Heavy libraries are imported inside `load`, because the site imports this folder
too.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from making.options import Options
from making.tokens import NO_TOKENS, Cost, Tokens


@dataclass(frozen=True, slots=True)
class MakerIdentity:
    """What made a candidate.

    `name`: as in the pipeline file, such as words:swap. `version`: of Lineup's method and its libraries. `weights`: the
    SHA-256 of the numbers of its model, "" without a model.
    """

    name: str
    version: str
    weights: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """A request for at most `count` different candidates from one text; `seed` decides every random choice."""

    text: str
    count: int
    seed: int


@dataclass(frozen=True, slots=True)
class MadeText:
    """A text that a maker made. `prompt`: what a model was told, "" without a model."""

    text: str
    prompt: str = ""
    tokens: Tokens = NO_TOKENS


@dataclass(frozen=True, slots=True)
class MadeImage:
    """An image that a maker made.

    `data`: the bytes of a PNG file. `seed`: its own, which makes it again. `problem`: why its checker rejects it, or
    "".
    """

    data: bytes
    seed: int
    prompt: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class NothingMade:
    """A maker made nothing of a text; `reason` is a sentence.

    `prompt`: what a model was told. `answer`: what it said that could not be used.
    """

    reason: str
    prompt: str = ""
    answer: str = ""
    tokens: Tokens = NO_TOKENS


Made = MadeText | MadeImage


class LoadedMaker(ABC):
    """A maker that is ready to work."""

    identity: MakerIdentity

    @abstractmethod
    def make(self, requests: Sequence[Request]) -> Sequence[Sequence[Made] | NothingMade]:
        """Return for each request what was made, in its order: equal requests give equal results."""


class Maker(Options, ABC):
    """A family of makers; its fields are its options in a pipeline file.

    `policies`: policy (the part of its name after the colon) -> what it does, as a sentence. A family whose policies
    are names of models has one key in capital letters, and any name will do. `makes_images`: images, not texts.
    `on_worker`: it runs on a worker with models.
    """

    policies: ClassVar[Mapping[str, str]]
    makes_images: ClassVar[bool] = False
    on_worker: ClassVar[bool] = False

    @classmethod
    def accepts(cls, policy: str) -> bool:
        """Whether the family has this policy."""
        return policy in cls.policies or (bool(policy) and any(name.isupper() for name in cls.policies))

    def cost_of(self, tokens: Tokens) -> Cost | None:
        """Return what these tokens cost, None if the pipeline file gives no price."""
        return None

    @abstractmethod
    def load(self, policy: str) -> LoadedMaker:
        """Return the maker of a policy. Raises CannotMake."""

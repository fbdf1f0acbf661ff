"""Interface of makers: they make texts or images out of texts or images. Pure.

Each maker is one file of this folder. Heavy libraries are imported inside `load`, because the site imports this folder
too.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, ClassVar

from making.options import Options
from making.tokens import NO_TOKENS, Cost, Tokens
from predictions.scorers import OpenPicture

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from predictions.scorers.vector_store import VectorStore


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
    """A request for at most `count` different candidates from a text or an image; `seed` decides every random choice.

    `image`: the SHA-256 of the image, "" for a text. `own_images`: those of the instance that it comes from, which are
    no others to it.
    """

    text: str
    count: int
    seed: int
    image: str = ""
    own_images: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Images:
    """The images that a maker may read beside those of its requests.

    `names`: the SHA-256 of each, once, in order. `open`: returns its pixels; raises NoPicture. `progress`: to be called
    between steps of long work; it raises where the work must stop. `vectors`: keeps what models compute of images.
    """

    names: Sequence[str]
    open: OpenPicture
    progress: Callable[[], None] = lambda: None
    vectors: "VectorStore | None" = None


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
class FoundImage:
    """An image of the project that a maker found. `image`: its SHA-256. `similarity`: a cosine, -1 to 1."""

    image: str
    similarity: float


@dataclass(frozen=True, slots=True)
class NothingMade:
    """A maker made nothing of a text or an image; `reason` is a sentence.

    `prompt`: what a model was told. `answer`: what it said that could not be used.
    """

    reason: str
    prompt: str = ""
    answer: str = ""
    tokens: Tokens = NO_TOKENS


Made = MadeText | MadeImage | FoundImage


def png_of(image: "Picture") -> bytes:
    """Return the bytes of a PNG file of an image in RGB, as `MadeImage` has them."""
    out = BytesIO()
    image.convert("RGB").save(out, "PNG")
    return out.getvalue()


class LoadedMaker(ABC):
    """A maker that is ready to work."""

    identity: MakerIdentity

    def look_at(self, images: Images) -> None:
        """Take the images of the project, once before `make`, if the maker reads images. Raises CannotMake."""
        return None

    @abstractmethod
    def make(self, requests: Sequence[Request]) -> Sequence[Sequence[Made] | NothingMade]:
        """Return for each request what was made, in its order: equal requests give equal results."""


class Maker(Options, ABC):
    """A family of makers; its fields are its options in a pipeline file.

    `policies`: policy (the part of its name after the colon) -> what it does, as a sentence. A family whose policies
    are names of models has one key in capital letters, and any name will do. `makes_images`: images, not texts.
    `reads_images`: it makes them of images, not of texts; on the site alone. `on_worker`: it runs on a worker with
    models.
    """

    policies: ClassVar[Mapping[str, str]]
    makes_images: ClassVar[bool] = False
    reads_images: ClassVar[bool] = False
    on_worker: ClassVar[bool] = False

    @classmethod
    def accepts(cls, policy: str) -> bool:
        """Whether the family has this policy."""
        return policy in cls.policies or (bool(policy) and any(name.isupper() for name in cls.policies))

    @property
    def waits_for_server(self) -> bool:
        """Whether a server does the work, so that others can use the worker's device meanwhile."""
        return False

    def cost_of(self, tokens: Tokens) -> Cost | None:
        """Return what these tokens cost, None if the pipeline file gives no price."""
        return None

    @abstractmethod
    def load(self, policy: str) -> LoadedMaker:
        """Return the maker of a policy. Raises CannotMake."""

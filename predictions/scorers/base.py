"""What a scorer is: a model that says how well a text and a picture belong together. Pure.

Each family of models is a file of this folder. What is heavy (torch, transformers) is imported inside its functions:
the site imports this folder too, and must not load them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PIL import Image

if TYPE_CHECKING:
    from predictions.scorers.kept import KeptVectors

# Gives the pixels of a picture by its name (its SHA-256): upright, 8-bit sRGB. Raises NoPicture. Called from threads.
OpenPicture = Callable[[str], Image.Image]


class CannotLoad(Exception):
    """The model cannot be loaded; the message is for people, and says what to do."""


@contextmanager
def imported(library: str, how: str = "Install requirements-gpu.txt there.") -> Iterator[None]:
    """Raise CannotLoad where what is imported in the block is not installed; `how` says what to do."""
    try:
        yield
    except ImportError as error:
        raise CannotLoad(f"{library} cannot be used on the worker ({error}). {how}") from error


def first_line(error: Exception) -> str:
    """Return as much of what a library raised as people need."""
    return str(error).strip().partition("\n")[0][:300] or type(error).__name__


class NoPicture(Exception):
    """There is no such picture, or it is broken; the message is for people, and says what to do."""


class OutOfMemory(Exception):
    """A batch did not fit into the memory of the device."""


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model it is. `weights`: the SHA-256 of its numbers, however they are stored; `version`: what else tells it
    apart for people, such as a tag."""

    name: str
    version: str
    weights: str


class Scorer(ABC):
    """A model that is loaded.

    `tolerance`: two scores that lie closer may be in another order when they are computed in float32; 0 where that is
    what they are computed in. It is twice what a score is supposed to differ.
    """

    identity: ModelIdentity
    tolerance: float = 0.0

    @abstractmethod
    def conditions(self) -> Mapping[str, Any]:
        """Return what its scores are computed under by now, plain JSON: numbers' type, shape of a batch, libraries."""

    @abstractmethod
    def score(self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture) -> Sequence[float | NoPicture]:
        """Return for each text and picture (its name) how well they belong together, higher is better, no unit.

        Where a picture cannot be had, the exception that says why stands in place of the score. Raises OutOfMemory when
        not even a batch of one fits.
        """

    @abstractmethod
    def pictures_per_second(self) -> float:
        """Return how many pictures it takes in a second, measured now on made-up ones; more than 0."""

    def keep_in(self, folder: "KeptVectors") -> None:
        """Keep there what is embedded once, and take it from there, where the model has such vectors: pictures are then
        called by their SHA-256. Does nothing for one that looks at texts and pictures together."""
        return None

    def in_half(self, numbers: str = "") -> "Scorer | None":
        """Return what scores with the same weights in numbers of 16 bits, and is quicker for it; None where there is no
        such thing.

        `numbers`: "float16" or "bfloat16"; "" leaves it to the device, and whether it is worth while there.
        """
        return None

"""Interface of scorers: models that score how well a text and an image match. Pure.

Each family of models is one file of this folder. Heavy libraries (torch, transformers) are imported inside its
functions, because the site imports this folder too.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predictions.feeder import NoPicture, OpenPicture
from predictions.trained_models import path_of

if TYPE_CHECKING:
    from predictions.scorers.vector_store import VectorStore


class CannotLoad(Exception):
    """The model cannot be loaded; the message is for people and says what to do."""


@contextmanager
def require_library(library: str, how: str = "Install requirements-gpu.txt there.") -> Iterator[None]:
    """Raise CannotLoad if an import in the block fails; `how` says how to install it."""
    try:
        yield
    except ImportError as error:
        raise CannotLoad(f"{library} cannot be used on the worker ({error}). {how}") from error


def trained_path(weights: str) -> str:
    """Return the path of weights that were trained on this machine; others as a spec names them. Raises CannotLoad."""
    try:
        path = path_of(weights)
    except ValueError as error:
        raise CannotLoad(str(error)) from error
    if path != weights and not Path(path).exists():
        raise CannotLoad(
            f"{weights} is not on this worker. Ask the worker that trained it, or copy its folder to LINEUP_TRAINED."
        )
    return path


def first_line(error: Exception) -> str:
    """Return the first line of a library's error, enough for people."""
    return str(error).strip().partition("\n")[0][:300] or type(error).__name__


class OutOfMemory(Exception):
    """A batch did not fit into the memory of the device."""


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """The identity of a model.

    `weights`: the SHA-256 of its numbers, however they are stored; `version`: for people, such as a tag.
    """

    name: str
    version: str
    weights: str


class Scorer(ABC):
    """A loaded model.

    `tolerance`: two scores closer than this may be in another order in float32; 0 if they are computed in float32. It
    is twice the expected error of a score. `sees_sets`: a score also depends on the other images of its question, which
    are those with the same text.
    """

    identity: ModelIdentity
    tolerance: float = 0.0
    sees_sets: bool = False

    @abstractmethod
    def conditions(self) -> Mapping[str, Any]:
        """Return the current conditions of its scores as plain JSON: number type, batch shape, libraries."""

    @abstractmethod
    def score(self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture) -> Sequence[float | NoPicture]:
        """Return for each text and image (by name) how well they match; higher is better, no unit.

        If an image is unavailable, the exception takes the place of the score. Raises OutOfMemory if a batch of one
        does not fit.
        """

    @abstractmethod
    def pictures_per_second(self) -> float:
        """Return the number of images scored per second, over 0, measured now on generated ones."""

    def read_ahead(self, names: Sequence[str], open_picture: OpenPicture) -> AbstractContextManager[OpenPicture]:
        """Begin to read images for the length of the block, which gives what `score` then opens them with.

        Meanwhile another thread may score. A model that reads no images ahead gives `open_picture`.
        """
        return nullcontext(open_picture)

    def keep_in(self, folder: "VectorStore") -> None:
        """Store vectors in `folder` and reuse them, if the model has separate vectors of texts and images.

        Images must then be named by their SHA-256. Other models do nothing.
        """
        return None

    def in_half(self, numbers: str = "") -> "Scorer | None":
        """Return a faster scorer with the same weights in 16-bit numbers; None if there is none.

        `numbers`: "float16" or "bfloat16"; "" leaves the choice, and whether it is worthwhile, to the device.
        """
        return None

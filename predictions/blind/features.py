"""What a blind baseline sees of options, as numbers; what is learnt of them is learnt from the options given. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from predictions.scorers import NoPicture

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Features(Protocol):
    """How options, texts or names of pictures (SHA-256), become rows of numbers."""

    def conditions(self) -> Mapping[str, Any]:
        """Return what is to be known of how they are made, plain JSON."""

    def missing(self, options: Iterable[str]) -> Mapping[str, NoPicture]:
        """Return which of the options cannot be seen, and why; only the others may be asked for."""

    def fit(self, options: Sequence[str]) -> None:
        """Learn from options which numbers there are: nothing else is told of those that are scored later."""

    def rows(self, options: Sequence[str]) -> "csr_array":
        """Return a row of finite numbers for each option, shape (options, numbers)."""

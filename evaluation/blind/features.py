"""What a blind baseline sees of options, as numbers. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Features(Protocol):
    """How options, texts or names of pictures (SHA-256), become rows of numbers."""

    def conditions(self) -> Mapping[str, Any]:
        """Return how the numbers are made, plain JSON."""

    def missing(self, options: Iterable[str]) -> Mapping[str, Exception]:
        """Return the options that cannot be seen, and why; `fit` and `rows` take only the others."""

    def fit(self, options: Sequence[str]) -> None:
        """Learn from distinct options, at least two, which numbers there are."""

    def rows(self, options: Sequence[str]) -> "csr_array":
        """Return a row of finite numbers for each option, shape (options, numbers)."""

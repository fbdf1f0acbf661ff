"""Features of options for blind baselines. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class Features(Protocol):
    """Turn options, texts or names of images (SHA-256), into rows of numbers."""

    def conditions(self) -> Mapping[str, Any]:
        """Return the parameters of the features as plain JSON."""

    def missing(self, options: Iterable[str]) -> Mapping[str, Exception]:
        """Return the unreadable options with the reasons; `fit` and `rows` take only the others."""

    def fit(self, options: Sequence[str]) -> None:
        """Fit the features to distinct options, at least two."""

    def rows(self, options: Sequence[str]) -> "csr_array":
        """Return a row of finite numbers for each option, shape (options, numbers)."""

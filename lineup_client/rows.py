"""Rows that are fetched page by page, also as a table."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


class Rows:
    """Rows of a list of the server; each loop requests them again."""

    def __init__(self, ask: Callable[[], Iterator[dict[str, Any]]]) -> None:
        self._ask = ask

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self._ask()

    def to_list(self) -> list[dict[str, Any]]:
        """Return all rows."""
        return list(self)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return all rows as a data frame, without columns if there are none. Raises ImportError without pandas."""
        import pandas

        return pandas.DataFrame(self.to_list())

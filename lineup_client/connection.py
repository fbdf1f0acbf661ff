"""What the parts of a project need of a client."""

from collections.abc import Iterator
from typing import Any, Protocol

import httpx

# Rows that are asked for at once.
PAGE = 1000


class Connection(Protocol):
    """A token on every request, and the same request again when its answer was lost: a `Lineup`."""

    def json(self, method: str, path: str, *, makes: bool = False, **options: Any) -> dict[str, Any]: ...

    def rows(self, path: str, **query: Any) -> Iterator[dict[str, Any]]: ...

    def request(self, method: str, path: str, **options: Any) -> httpx.Response: ...

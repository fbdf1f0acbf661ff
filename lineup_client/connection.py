"""Define what the parts of a project need of a client."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import httpx

PAGE = 1000


class Connection(Protocol):
    """Sends requests with the token, and repeats them: a `Lineup`."""

    def json(self, method: str, path: str, *, makes: bool = False, **options: Any) -> dict[str, Any]: ...

    def rows(self, path: str, **query: Any) -> Iterator[dict[str, Any]]: ...

    def download(self, path: str, part: Path) -> None: ...

    def request(self, method: str, path: str, **options: Any) -> httpx.Response: ...


class ProjectPart:
    """A part of a project. path: the project's path below the address of the API."""

    def __init__(self, site: Connection, path: str) -> None:
        self._site = site
        self._path = path

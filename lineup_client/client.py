"""The connection: sends the token, and repeats a request whose response was lost."""

import time
import uuid
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self

import httpx

from lineup_client.errors import LineupError, NotReached
from lineup_client.project import Project

# The server is unavailable or asks to wait.
AGAIN = frozenset({429, 502, 503, 504})
LONGEST_WAIT_SECONDS = 60.0


class Lineup:
    """A site, opened with one person's token.

    url: the site, such as https://lineup.example. token: created there on /tokens/. A request without a response is
    sent again, at most `tries` times, with a wait that starts at `wait_seconds` and doubles; a request that creates
    something has an idempotency key, so it is done once. Raises LineupError if the server refuses, NotReached if no
    response comes.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        tries: int = 5,
        wait_seconds: float = 0.5,
        timeout_seconds: float = 120,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._tries = tries
        self._wait_seconds = wait_seconds
        self._http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=timeout_seconds,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def me(self) -> dict[str, Any]:
        """Return the token's owner, and what it opens."""
        return self.json("GET", "me/")

    def projects(self) -> list[dict[str, Any]]:
        """Return the projects that the token opens."""
        return list(self.rows("projects/"))

    def create_project(self, slug: str, name: str) -> Project:
        """Create an empty project, if the site allows it. Raises LineupError."""
        self.json("POST", "projects/", makes=True, json={"slug": slug, "name": name})
        return self.project(slug)

    def project(self, slug: str) -> Project:
        """Return the project with this slug, without a request."""
        return Project(self, slug)

    def json(self, method: str, path: str, *, makes: bool = False, **options: Any) -> dict[str, Any]:
        """Return the JSON of a response; `makes` as in `request`. Raises LineupError and NotReached."""
        response = self.request(method, path, makes=makes, **options)
        return dict(response.json()) if response.content else {}

    def rows(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of a list, page by page. Raises LineupError and NotReached."""
        address: str | None = path
        asked: Mapping[str, Any] | None = {name: value for name, value in query.items() if value is not None}
        while address is not None:
            page = self.json("GET", address, params=asked)
            yield from page["results"]
            # `next` contains the whole query.
            address, asked = page["next"], None

    def request(self, method: str, path: str, *, makes: bool = False, **options: Any) -> httpx.Response:
        """Return the response to a request, repeated until one comes.

        makes: the request creates something, so it gets an idempotency key. Raises LineupError and NotReached.
        """
        headers = dict(options.pop("headers", {}))
        if makes:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        lost: Exception | None = None
        for attempt in range(self._tries):
            if attempt:
                time.sleep(self._wait_seconds * 2 ** (attempt - 1))
            try:
                response = self._http.request(method, path, headers=headers, **options)
            except httpx.TransportError as error:
                lost = error
                continue
            if response.status_code not in AGAIN or attempt == self._tries - 1:
                return _raise_if_refused(response)
            if (seconds := response.headers.get("Retry-After", "")).isdecimal():
                time.sleep(min(float(seconds), LONGEST_WAIT_SECONDS))
        raise NotReached(f"No response to {method} {path}, asked {self._tries} times: {lost}") from lost


def _raise_if_refused(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    raise LineupError(response.status_code, problem if isinstance(problem, dict) else {})

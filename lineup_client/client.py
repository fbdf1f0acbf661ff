"""The connection: sends the token, and repeats a request whose response was lost."""

import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
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

    def download(self, path: str, part: Path) -> None:
        """Write a file to `part`, block by block; what is already there is the beginning, and only the rest is sent.

        A broken connection is tried again where it broke. After it, `part` is as long as the server says. Raises
        LineupError and NotReached.
        """
        failures = 0
        lost: Exception | None = None
        while failures < self._tries:
            if failures:
                time.sleep(self._wait_seconds * 2 ** (failures - 1))
            before = _size(part)
            try:
                if self._download_rest(path, part, is_last=failures == self._tries - 1):
                    return
                lost = None
            except httpx.TransportError as error:
                lost = error
            # A try that brought something is no failure: a large file may need many.
            failures = 1 if _size(part) > before else failures + 1
        raise NotReached(f"The file {path} did not come whole, asked {self._tries} times: {lost}") from lost

    def _download_rest(self, path: str, part: Path, *, is_last: bool) -> bool:
        """Append to `part` what it lacks; return whether it is whole now. Raises LineupError and TransportError."""
        have = _size(part)
        # Compressed bytes could neither be counted nor resumed.
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        with self._http.stream("GET", path, headers=headers) as response:
            if response.status_code in AGAIN and not is_last:
                _wait_as_told(response)
                return False
            whole = _range_total(response)
            if have and response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                if whole not in {None, have}:
                    # It is not the beginning of this file: start again.
                    part.unlink()
                    return False
                return True
            if not response.is_success:
                response.read()
                _raise_if_refused(response)
            goes_on = response.status_code == httpx.codes.PARTIAL_CONTENT
            with part.open("ab" if goes_on else "wb") as out:
                for block in response.iter_bytes():
                    out.write(block)
            if not goes_on and (length := response.headers.get("Content-Length", "")).isdecimal():
                whole = int(length)
        return whole is None or _size(part) == whole

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
            _wait_as_told(response)
        raise NotReached(f"No response to {method} {path}, asked {self._tries} times: {lost}") from lost


def _wait_as_told(response: httpx.Response) -> None:
    if (seconds := response.headers.get("Retry-After", "")).isdecimal():
        time.sleep(min(float(seconds), LONGEST_WAIT_SECONDS))


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _range_total(response: httpx.Response) -> int | None:
    """Return the length of the whole file that an answer to a range names; None if it names none."""
    told = response.headers.get("Content-Range", "").rpartition("/")[2]
    return int(told) if told.isdecimal() else None


def _raise_if_refused(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    raise LineupError(response.status_code, problem if isinstance(problem, dict) else {})

"""Requests to Prolific's API: time limit, rate limit, retries of reads, and one error (prolific.md, section 4.1)."""

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode

import urllib3

ADDRESS = "https://api.prolific.com"
# Of connecting, and of each wait for the response.
SECONDS = 20.0
# Of a read; a write is sent once, because a lost response does not say whether it happened.
ATTEMPTS = 5
LONGEST_WAIT = 30.0
LARGEST_BODY = 20_000_000
_CHUNK = 65_536
_LONGEST_DETAIL = 500
_BUSY = 429
_AWAY = frozenset({502, 503, 504})
_HIDDEN = "[token]"


class ProlificError(Exception):
    """A request that Prolific did not fulfil. The message is a sentence for people, and never has the token.

    `status`: of the response, None if there was none. `body`: the response, parsed if it is JSON. `retry_after`:
    seconds until asking again makes sense, 0 if unknown. `is_uncertain`: whether a write may have happened.
    """

    def __init__(
        self, sentence: str, *, status: int | None, body: Any, retry_after: float = 0, is_uncertain: bool = False
    ) -> None:
        super().__init__(sentence)
        self.sentence, self.status, self.body = sentence, status, body
        self.retry_after, self.is_uncertain = retry_after, is_uncertain


@dataclass(frozen=True)
class Reply:
    """A response that Prolific counts as a success: status under 300."""

    status: int
    headers: Mapping[str, str]
    body: Any


class Connection:
    """Sends requests with one researcher's token. `attempts`: of a read; `sleep` waits between them."""

    def __init__(
        self,
        token: str,
        *,
        address: str = ADDRESS,
        seconds: float = SECONDS,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise ProlificError(
                "This is not a token of Prolific. Copy the complete token, without spaces.", status=None, body=None
            )
        self._token, self._address = token, address.rstrip("/")
        self._attempts, self._sleep = attempts, sleep
        self._seconds, self._until = seconds, math.inf
        # Seconds that Prolific's clock was ahead at the last response; None if no response said.
        self.clock_ahead: float | None = None
        self._pool = urllib3.PoolManager(retries=False)

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Give all requests of a block so many seconds together."""
        self._until = time.monotonic() + seconds
        try:
            yield
        finally:
            self._until = math.inf

    def request(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None) -> Reply:
        """Send a request and return the response. Raises ProlificError.

        A GET is repeated where that may help; no other method ever is.
        """
        target = f"{path}?{urlencode(query)}" if query else path
        attempts = self._attempts if method == "GET" else 1
        for attempt in range(1, attempts + 1):
            try:
                return self._send(method, target, body)
            except ProlificError as error:
                may_pass = error.status in {None, _BUSY} | _AWAY
                if attempt == attempts or not may_pass:
                    raise
                # Jitter keeps workers that failed together from coming back together.
                self._sleep(error.retry_after or random.uniform(0.5, 1) * 2 ** (attempt - 1))  # noqa: S311
        raise AssertionError("unreachable")

    def _send(self, method: str, target: str, body: Any) -> Reply:
        headers = {"Authorization": f"Token {self._token}", "Accept": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        try:
            # A redirect would carry the token elsewhere.
            response = self._pool.request(
                method,
                f"{self._address}{target}",
                headers=headers,
                body=content,
                redirect=False,
                timeout=urllib3.Timeout(self._seconds_left()),
                preload_content=False,
            )
            self._note_clock(response.headers.get("Date", ""))
            data = self._receive(method, response)
        except (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError):
            raise ProlificError("Prolific cannot be reached. Try again later.", status=None, body=None) from None
        except urllib3.exceptions.HTTPError:
            raise self._no_reply(method) from None
        body = _parse(data.replace(self._token.encode(), _HIDDEN.encode()))
        if response.status < 300:
            return Reply(response.status, response.headers, body)
        raise self._refusal(method, response, body)

    def _note_clock(self, date: str) -> None:
        with suppress(ValueError, OverflowError):
            self.clock_ahead = parsedate_to_datetime(date).timestamp() - time.time()

    def _seconds_left(self) -> float:
        left = min(self._seconds, self._until - time.monotonic())
        if left <= 0:
            raise ProlificError("Prolific answers too slowly. Try again later.", status=None, body=None)
        return left

    def _receive(self, method: str, response: urllib3.BaseHTTPResponse) -> bytes:
        """Return the body. One that trickles in, or does not end, is no reply."""
        data = bytearray()
        while chunk := response.read1(_CHUNK):
            data += chunk
            if len(data) > LARGEST_BODY or time.monotonic() > self._until:
                response.close()
                raise self._no_reply(method)
        response.release_conn()
        return bytes(data)

    def _no_reply(self, method: str) -> ProlificError:
        if method == "GET":
            return ProlificError("Prolific did not answer. Try again later.", status=None, body=None)
        sentence = "Prolific did not answer, so this may have been done or not. Check it on Prolific first."
        return ProlificError(sentence, status=None, body=None, is_uncertain=True)

    def _refusal(self, method: str, response: urllib3.BaseHTTPResponse, body: Any) -> ProlificError:
        status = response.status
        is_uncertain = status >= 500 and method != "GET"
        retry_after = _seconds(response.headers.get("Retry-After", ""))
        sentence = _sentence(status, _details(body))
        if is_uncertain:
            sentence = f"Prolific failed ({status}), so this may have been done or not. Check it on Prolific first."
        return ProlificError(sentence, status=status, body=body, retry_after=retry_after, is_uncertain=is_uncertain)


def _sentence(status: int, details: str) -> str:
    if status == 401:
        return "Prolific does not accept the token. Create one on Prolific, and save it in the project's settings."
    if status == 403:
        return "Prolific does not allow this with the token. Ask the owner of the workspace."
    if status == 404:
        return "Prolific does not have this, or hides it from the owner of the token."
    if status == _BUSY:
        return "Prolific has too much to do at the moment. Try again in a minute."
    if status >= 500:
        return f"Prolific failed ({status}). Try again later."
    return f"Prolific refuses this ({status}): {details}" if details else f"Prolific refuses this ({status})."


def _parse(data: bytes) -> Any:
    """Return the JSON in `data`, its text if it is none, None if it is empty."""
    # PostgreSQL stores no NUL.
    data = data.replace(rb"\u0000", rb"\ufffd").replace(b"\0", b"")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data.decode(errors="replace") or None


def _details(body: Any) -> str:
    """Return what an error body says is wrong, in one line: three shapes are in use."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = inner.get("detail", inner.get("message")) if isinstance(inner, dict) else inner
    if isinstance(body, dict):
        body = [f"{field}: {_details(said)}" for field, said in body.items()]
    if isinstance(body, list):
        body = " ".join(_details(said) for said in body)
    return " ".join(str(body or "").split())[:_LONGEST_DETAIL]


def _seconds(retry_after: str) -> float:
    """Return the seconds of a header Retry-After, which has seconds or a date; 0 for anything else."""
    try:
        wait = (
            float(retry_after)
            if retry_after.isdecimal()
            else parsedate_to_datetime(retry_after).timestamp() - time.time()
        )
    except (ValueError, OverflowError):
        return 0
    return min(max(wait, 0), LONGEST_WAIT)

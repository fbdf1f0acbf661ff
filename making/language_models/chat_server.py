"""Language models behind an address that speaks OpenAI's chat completions. Pure.

The address comes from a pipeline file, so it must be public and begin with https://, and gets no key. One address,
which the worker's administrator names, may be private, and alone gets the worker's key: nobody who writes pipelines can
have the key sent elsewhere. Proxies of the environment are ignored, and redirects are not followed.
"""

import json
import re
import ssl
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import monotonic, time
from typing import Any
from urllib.parse import urlsplit

import httpcore2

from background.public_addresses import is_public, resolve
from making.errors import CannotMake
from making.language_models.addresses import ADDRESS, KEY, Access
from making.language_models.base import TOO_LONG, Answer, Failure, LanguageModel, NoAnswer, Prompt, Sampling
from making.tokens import Tokens
from predictions.pictures import WHEN_UNTRUSTED, problem_with_certificate
from studies.names import UNSTORABLE

# Questions that a server is asked at the same time.
AT_ONCE = 8
# Bytes of the longest answer that is read: far more than `max_tokens` need.
MOST_BYTES = 2_000_000
MOST_OF_AN_ERROR = 10_000
# Tokens of one request; who counts more miscounts.
MOST_TOKENS = 10_000_000
# In seconds.
LONGEST_WAIT = 60.0
# How servers say that a prompt is too long for the model.
_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window)|too (?:long|many tokens)|maximum (?:model |input |prompt )?length",
    re.IGNORECASE,
)
HTTP_OK = 200
# What newer models call LONGEST.
LONGEST, NEWER_LONGEST = "max_tokens", "max_completion_tokens"
FORM, SEED = "response_format", "seed"
# Fields that a request can do without, in the order in which they are left out if a server does not say which it
# refuses.
OPTIONAL = (FORM, LONGEST, SEED)
# Which of them servers took, by URL and model.
_taken: dict[tuple[str, str], tuple[str, ...]] = {}


# Looking up a host has no time limit of its own.
_lookups = ThreadPoolExecutor(AT_ONCE, "lookup")


class _TimeLimit:
    """The end of a request, however slowly its bytes come."""

    def __init__(self, seconds: float) -> None:
        self._until = monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left. Raises httpcore2.ReadTimeout."""
        left = self._until - monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout
        return left


class _TimedStream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, limit: _TimeLimit) -> None:
        self._inner, self._limit = inner, limit

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._limit.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._limit.left())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _TimedStream(self._inner.start_tls(ssl_context, server_hostname, self._limit.left()), self._limit)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Network(httpcore2.NetworkBackend):
    """Connects to the address that it has checked, so that DNS rebinding has no effect."""

    def __init__(self, limit: _TimeLimit, *, may_be_private: bool) -> None:
        self._limit, self._may_be_private = limit, may_be_private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore2.NetworkStream:
        try:
            addresses = _lookups.submit(resolve, host, port).result(self._limit.left())
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError from error
        if not self._may_be_private and not all(map(is_public, addresses)):
            raise CannotMake(
                f"{host} is in a private network, or is the worker itself. The worker sends nothing there unless its "
                f"administrator sets {ADDRESS} to this address."
            )
        for address in addresses[:-1]:
            try:
                return self._connect(str(address), port)
            except httpcore2.ConnectError:
                continue
        return self._connect(str(addresses[-1]), port)

    def _connect(self, address: str, port: int) -> httpcore2.NetworkStream:
        return _TimedStream(httpcore2.SyncBackend().connect_tcp(address, port, self._limit.left()), self._limit)


@dataclass(frozen=True)
class _Reply:
    status: int
    retry_after: str
    body: bytes

    @property
    def values(self) -> Any:
        """Return the body as JSON, None if it is not."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    @property
    def is_too_long(self) -> bool:
        return self.status == 413 or (self.status in {400, 422} and bool(_TOO_LONG.search(self.message)))

    @property
    def message(self) -> str:
        """Return what the server says is wrong, in one line, "" if it says nothing readable."""
        values = self.values
        said = values.get("error", values.get("detail", values.get("message"))) if isinstance(values, dict) else None
        if isinstance(said, dict):
            said = said.get("message")
        return UNSTORABLE.sub("\ufffd", " ".join(said.split())[:300]) if isinstance(said, str) else ""


class ChatServer(LanguageModel):
    """A model that a server calls `name`. Raises CannotMake if nothing may be sent to the address."""

    def __init__(self, address: str, name: str, sampling: Sampling, access: Access) -> None:
        self._is_known = bool(access.address) and _plain(address) == _plain(access.address)
        parts = urlsplit(address)
        if not self._is_known and parts.scheme != "https":
            raise CannotMake(
                f"The address {address} must begin with https://, so that nobody else can read what is sent, unless "
                f"the worker's administrator sets {ADDRESS} to it."
            )
        self.version = "OpenAI-compatible server"
        self._url, self._host = f"{_plain(address)}/chat/completions", parts.hostname or ""
        self._name, self._sampling = name, sampling
        self._headers: dict[bytes | str, bytes | str] = {
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        if self._is_known and access.key:
            self._headers["Authorization"] = f"Bearer {access.key}"
        self._secure = httpcore2.default_ssl_context() if parts.scheme == "https" else None

    def answer(self, prompts: Sequence[Prompt]) -> list[Answer | NoAnswer]:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            return list(threads.map(self._answer, prompts))

    def _answer(self, prompt: Prompt) -> Answer | NoAnswer:
        try:
            return self._read(self._ask_as_it_knows(prompt))
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
            if problem := problem_with_certificate(error):
                raise CannotMake(f"{self._host} {problem}. {WHEN_UNTRUSTED}") from error
            return NoAnswer(f"{self._host} cannot be reached.", Failure.AWAY)
        except httpcore2.TimeoutException:
            return NoAnswer(f"{self._host} did not answer within {self._sampling.seconds:g} seconds.", Failure.FAILED)
        except (httpcore2.NetworkError, httpcore2.ProtocolError):
            return NoAnswer(f"{self._host} did not send a complete answer.", Failure.FAILED)

    def _ask_as_it_knows(self, prompt: Prompt) -> _Reply:
        """Ask, and again without one field after another that the server refuses; remember those that it takes."""
        server = self._url, self._name
        fields = _taken.get(server, OPTIONAL)
        while True:
            reply = self._ask(prompt, fields)
            if reply.status == HTTP_OK:
                _taken[server] = fields
            if reply.status not in {400, 422} or reply.is_too_long or not fields:
                return reply
            fields = _without_refused(fields, reply)

    def _ask(self, prompt: Prompt, fields: Collection[str]) -> _Reply:
        sampling = self._sampling
        form = {"name": "answer", "strict": True, "schema": dict(sampling.schema)}
        optional: dict[str, Any] = {
            FORM: {"type": "json_schema", "json_schema": form},
            LONGEST: sampling.max_tokens,
            NEWER_LONGEST: sampling.max_tokens,
            SEED: prompt.seed,
        }
        content: dict[str, Any] = {
            "model": self._name,
            "messages": [{"role": "user", "content": prompt.text}],
            "temperature": sampling.temperature,
        } | {field: optional[field] for field in fields}
        limit = _TimeLimit(sampling.seconds)
        network = _Network(limit, may_be_private=self._is_known)
        with (
            httpcore2.ConnectionPool(self._secure, network_backend=network) as pool,
            pool.stream("POST", self._url, headers=self._headers, content=json.dumps(content).encode()) as response,
        ):
            body = b""
            for part in response.iter_stream():
                body += part
                if len(body) > MOST_BYTES:
                    raise httpcore2.RemoteProtocolError
            headers = {name.lower(): value for name, value in response.headers}
            return _Reply(response.status, headers.get(b"retry-after", b"").decode("ascii", "replace"), body)

    def _read(self, reply: _Reply) -> Answer | NoAnswer:
        status = reply.status
        if status == HTTP_OK:
            return _answer_in(reply.values) or NoAnswer(
                f"{self._host} did not answer like a language model.", Failure.FAILED
            )
        if reply.is_too_long:
            return NoAnswer(TOO_LONG, Failure.REFUSED)
        if status in {401, 403}:
            raise CannotMake(
                f"{self._host} refuses the worker ({status}). Ask the worker's administrator to set {KEY}, and "
                f"{ADDRESS} to this address."
            )
        if status == 404:
            raise CannotMake(
                f"{self._host} has no model {self._name} at this address (404). Check `make` and `address`."
            )
        if status in {429, 503}:
            wait = _seconds_of(reply.retry_after)
            return NoAnswer(f"{self._host} was too busy to answer ({status}).", Failure.BUSY, wait)
        if status == 502:
            return NoAnswer(f"{self._host} cannot reach its model (502).", Failure.AWAY)
        if status >= 500 or status == 408:
            return NoAnswer(f"{self._host} failed ({status}).", Failure.FAILED)
        said = f" It says: {reply.message}" if reply.message else ""
        return NoAnswer(f"{self._host} refused the request ({status}).{said}", Failure.REFUSED)


def _without_refused(fields: Sequence[str], reply: _Reply) -> tuple[str, ...]:
    """Return the fields without the one that a server refuses: the first that it names, or the first of all."""
    said = reply.body[:MOST_OF_AN_ERROR].decode(errors="replace")
    refused = next((field for field in fields if field in said), fields[0])
    newer = [NEWER_LONGEST] if refused == LONGEST and NEWER_LONGEST in said else []
    place = fields.index(refused)
    return (*fields[:place], *newer, *fields[place + 1 :])


def _plain(address: str) -> str:
    """Return an address such that equal ones are the same text."""
    parts = urlsplit(address)
    return parts._replace(scheme=parts.scheme.lower(), netloc=parts.netloc.lower()).geturl().rstrip("/")


def _answer_in(values: Any) -> Answer | None:
    """Return the answer in a chat completion, None if it is none."""
    try:
        choice = values["choices"][0]
        message = choice["message"]
        usage = values.get("usage") or {}
        tokens = Tokens(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
        text = message.get("content") or ""
        why = choice.get("finish_reason")
        if message.get("refusal") or why == "content_filter":
            return Answer("", tokens, is_declined=True)
        return Answer(text, tokens, is_cut=why == "length") if isinstance(text, str) else None
    except (LookupError, TypeError, AttributeError):
        return None


def _count(value: Any) -> int:
    """Return a number of tokens, 0 for anything else."""
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0


def _seconds_of(retry_after: str) -> float:
    """Return the seconds of a header Retry-After, which has seconds or a date; 0 for anything else."""
    try:
        until = (
            float(retry_after) + time() if retry_after.isdecimal() else parsedate_to_datetime(retry_after).timestamp()
        )
    except (ValueError, OverflowError):
        return 0
    return min(max(until - time(), 0), LONGEST_WAIT)

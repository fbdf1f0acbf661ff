"""Deliver webhooks; block private addresses (SSRF).

Resolves the host once, checks the addresses, and connects to the checked address itself, so DNS rebinding has no
effect. Ignores proxies of the environment, and follows no redirects.
"""

import http.client
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Timer
from time import monotonic
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from background.public_addresses import Address, is_public, resolve

# From the look-up to the end of the response.
SECONDS = 10
# Bytes of the response that are read and stored.
MOST_ANSWER = 500
LONGEST_URL = 500


class AddressRefused(Exception):
    """Nothing may be sent to the address; the message is a sentence for the user."""


class NotReached(Exception):
    """No response came; the message is a sentence for the user."""


@dataclass(frozen=True)
class Answer:
    """An HTTP status, and the first bytes of the body as text, invalid bytes replaced."""

    status: int
    beginning: str


def check_url(url: str) -> SplitResult:
    """Return the parts of a URL if its form is acceptable. Raises AddressRefused."""
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise AddressRefused(f"Write the URL in at most {LONGEST_URL} plain characters, without spaces.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise AddressRefused("This is not a URL. Write one such as https://example.org/lineup.") from error
    if parts.scheme != "https" and not (parts.scheme == "http" and settings.WEBHOOKS_TO_PRIVATE_ADDRESSES):
        raise AddressRefused("The URL must begin with https://, so that nobody else can read the messages.")
    if not host or port == 0:
        raise AddressRefused("This is not a URL. Write one such as https://example.org/lineup.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise AddressRefused("Write the URL without a user name, a password and a # in it.")
    return parts


def look_up(host: str, port: int) -> list[Address]:
    """Return the addresses of a host if all of them are allowed. Raises AddressRefused and NotReached."""
    try:
        addresses = resolve(host, port)
    except (OSError, UnicodeError) as error:
        raise NotReached(f"The host name {host} cannot be resolved.") from error
    if not settings.WEBHOOKS_TO_PRIVATE_ADDRESSES and not all(map(is_public, addresses)):
        raise AddressRefused(
            f"{host} is in a private network, or is this machine itself. The site sends nothing there "
            "unless its administrator sets WEBHOOKS_TO_PRIVATE_ADDRESSES."
        )
    return addresses


class _PinnedConnection(http.client.HTTPConnection):
    """A connection to a resolved address; TLS still verifies the host's name."""

    def __init__(self, parts: SplitResult, address: Address) -> None:
        self._secure = parts.scheme == "https"
        self._address = str(address)
        # The port that the header `Host` leaves out.
        self.default_port = 443 if self._secure else 80
        self.wire: socket.socket | None = None
        self.is_late = False
        super().__init__(parts.hostname or "", parts.port or self.default_port)

    def connect(self) -> None:
        self.wire = self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._secure:
            secure = ssl.create_default_context().wrap_socket(
                self.sock, server_hostname=self.host, do_handshake_on_connect=False
            )
            self.wire = self.sock = secure
            secure.do_handshake()

    @contextmanager
    def limit_time(self, seconds: float) -> Iterator[None]:
        """Close the connection after `seconds`, however slowly the other side responds."""
        self.timeout = seconds
        timer = Timer(seconds, self._end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            self.close()

    def _end(self) -> None:
        self.is_late = True
        if self.wire is not None:
            with suppress(OSError):
                # The plain socket's shutdown: that of TLS would change the object that the other thread reads with.
                socket.socket.shutdown(self.wire, socket.SHUT_RDWR)


def post(url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Send `body` to a URL and return the beginning of the response, whatever its status.

    Raises AddressRefused, and NotReached if no response came within `SECONDS`.
    """
    parts = check_url(url)
    host = parts.hostname or ""
    until = monotonic() + SECONDS
    addresses = look_up(host, parts.port or (443 if parts.scheme == "https" else 80))
    problem = _timeout_sentence(host)
    for address in addresses:
        left = until - monotonic()
        if left <= 0:
            break
        connection = _PinnedConnection(parts, address)
        try:
            with connection.limit_time(left):
                return _post_over(connection, parts, body, headers)
        except (OSError, http.client.HTTPException) as error:
            problem = _timeout_sentence(host) if connection.is_late else _error_sentence(host, error)
    raise NotReached(problem)


def _post_over(connection: _PinnedConnection, parts: SplitResult, body: bytes, headers: Mapping[str, str]) -> Answer:
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request("POST", path, body, dict(headers))
    with connection.getresponse() as response:
        return Answer(response.status, response.read(MOST_ANSWER).decode("utf-8", "replace").replace("\0", "\ufffd"))


def _timeout_sentence(host: str) -> str:
    return f"{host} did not answer within {SECONDS} seconds."


def _error_sentence(host: str, error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return _timeout_sentence(host)
    if isinstance(error, ConnectionRefusedError):
        return f"{host} refused the connection."
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"The certificate of {host} is not valid: {error.verify_message}."
    if isinstance(error, ssl.SSLError):
        return f"The secure connection to {host} failed."
    if isinstance(error, http.client.HTTPException):
        return f"{host} did not send a complete HTTP response."
    return f"{host} cannot be reached."

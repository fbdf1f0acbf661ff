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
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from threading import Timer
from time import monotonic
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

Address: TypeAlias = IPv4Address | IPv6Address

# From the look-up to the end of the response.
SECONDS = 10
# Bytes of the response that are read and stored.
MOST_ANSWER = 500
LONGEST_URL = 500
# NAT64: the last 32 bits are the IPv4 address that is reached.
_NAT64 = ip_network("64:ff9b::/96")
# A public address at which one cloud provider serves its machines' secrets.
_METADATA_SERVERS = frozenset({ip_address("168.63.129.16")})
# Global unicast IPv6. The rest has other uses, whatever `ipaddress` says about it.
_GLOBAL_UNICAST = ip_network("2000::/3")
# Protocol assignments, not hosts; one cloud serves secrets there.
_PROTOCOL_ASSIGNMENTS = ip_network("192.0.0.0/24")


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


def is_public(address: Address) -> bool:
    """Return whether an address is public, including an IPv4 address embedded in an IPv6 one."""
    if isinstance(address, IPv6Address):
        wrapped = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
        if address in _NAT64:
            wrapped = IPv4Address(int(address) & 0xFFFFFFFF)
        if wrapped and not is_public(wrapped):
            return False
        if address not in _GLOBAL_UNICAST and address not in _NAT64:
            return False
    elif address in _PROTOCOL_ASSIGNMENTS:
        return False
    return address.is_global and not address.is_multicast and address not in _METADATA_SERVERS


def look_up(host: str, port: int) -> list[Address]:
    """Return the addresses of a host if all of them are allowed. Raises AddressRefused and NotReached."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotReached(f"The host name {host} cannot be resolved.") from error
    addresses = list(dict.fromkeys(ip_address(str(entry[4][0]).partition("%")[0]) for entry in found))
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

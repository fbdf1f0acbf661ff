"""Sends what a person's address is to be told, and reaches nothing that the site alone should reach.

The name in the address is looked up once, what it leads to is checked, and that very address is connected to: a name
that leads elsewhere the next time it is asked gains nothing. Proxies of the environment are not used, and no answer is
followed anywhere.
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

# From the first look-up to the end of the answer.
SECONDS = 10
# Of an answer no more is read than is kept.
MOST_ANSWER = 500
LONGEST_URL = 500
# IPv4 addresses that stand in the last 32 bits of these reach what they name.
_NAT64 = ip_network("64:ff9b::/96")
# Public by its number, and answered by the machines of one provider's cloud with their own secrets.
_METADATA = frozenset({ip_address("168.63.129.16")})
# What the world's IPv6 addresses begin with; the rest is for other purposes, whatever the library's lists say of it.
_IPV6_OF_THE_WORLD = ip_network("2000::/3")
# Of protocols, not of machines in the open network; one cloud's secrets are there.
_OF_PROTOCOLS = ip_network("192.0.0.0/24")


class AddressRefused(Exception):
    """The address may not be told anything; the message is a sentence for whoever gave it."""


class NotReached(Exception):
    """Nothing was answered; the message is a sentence for whoever gave the address."""


@dataclass(frozen=True)
class Answer:
    """status: of HTTP. beginning: the first bytes of its body as text, what is no text in it replaced."""

    status: int
    beginning: str


def check_url(url: str) -> SplitResult:
    """Return an address in its parts if something can be sent there as far as its words tell. Raises AddressRefused."""
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        raise AddressRefused(f"Write the address in at most {LONGEST_URL} plain characters, without spaces.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise AddressRefused("This is no address. Write one such as https://example.org/lineup.") from error
    if parts.scheme != "https" and not (parts.scheme == "http" and settings.WEBHOOKS_TO_PRIVATE_ADDRESSES):
        raise AddressRefused("The address must begin with https://, so that nobody reads along.")
    if not host or port == 0:
        raise AddressRefused("This is no address. Write one such as https://example.org/lineup.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise AddressRefused("Write the address without a name, a password and a # in it.")
    return parts


def is_public(address: Address) -> bool:
    """Tell whether an address is one of the open network, also in what it wraps: an IPv4 address in an IPv6 one."""
    if isinstance(address, IPv6Address):
        wrapped = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
        if address in _NAT64:
            wrapped = IPv4Address(int(address) & 0xFFFFFFFF)
        if wrapped and not is_public(wrapped):
            return False
        if address not in _IPV6_OF_THE_WORLD and address not in _NAT64:
            return False
    elif address in _OF_PROTOCOLS:
        return False
    return address.is_global and not address.is_multicast and address not in _METADATA


def look_up(host: str, port: int) -> list[Address]:
    """Return where a host may be reached, if all of it may be told something. Raises AddressRefused, NotReached."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotReached(f"Nobody knows where {host} is.") from error
    addresses = list(dict.fromkeys(ip_address(str(entry[4][0]).partition("%")[0]) for entry in found))
    if not settings.WEBHOOKS_TO_PRIVATE_ADDRESSES and not all(map(is_public, addresses)):
        raise AddressRefused(
            f"{host} leads into a private network, or to this machine itself. The site sends nothing there unless "
            "whoever runs it sets WEBHOOKS_TO_PRIVATE_ADDRESSES."
        )
    return addresses


class _ToAddress(http.client.HTTPConnection):
    """A connection to an address that was looked up before; the host's name is asked for, and proved, all the same."""

    def __init__(self, parts: SplitResult, address: Address) -> None:
        self._secure = parts.scheme == "https"
        self._address = str(address)
        # What the header `Host` leaves out.
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
    def ended_after(self, seconds: float) -> Iterator[None]:
        """End the connection when its time is up, however slowly its other side goes on to answer."""
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
                # The system's own: that of TLS would change what the other thread reads with.
                socket.socket.shutdown(self.wire, socket.SHUT_RDWR)


def post(url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    """Send `body` to an address and return the beginning of the answer, whatever its status.

    Raises AddressRefused, and NotReached where nothing was answered within `SECONDS`.
    """
    parts = check_url(url)
    host = parts.hostname or ""
    until = monotonic() + SECONDS
    addresses = look_up(host, parts.port or (443 if parts.scheme == "https" else 80))
    problem = _too_late(host)
    for address in addresses:
        left = until - monotonic()
        if left <= 0:
            break
        connection = _ToAddress(parts, address)
        try:
            with connection.ended_after(left):
                return _post_by(connection, parts, body, headers)
        except (OSError, http.client.HTTPException) as error:
            problem = _too_late(host) if connection.is_late else _in_words(host, error)
    raise NotReached(problem)


def _post_by(connection: _ToAddress, parts: SplitResult, body: bytes, headers: Mapping[str, str]) -> Answer:
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request("POST", path, body, dict(headers))
    with connection.getresponse() as response:
        return Answer(response.status, response.read(MOST_ANSWER).decode("utf-8", "replace").replace("\0", "\ufffd"))


def _too_late(host: str) -> str:
    return f"{host} did not answer within {SECONDS} seconds."


def _in_words(host: str, error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return _too_late(host)
    if isinstance(error, ConnectionRefusedError):
        return f"{host} takes no connections there."
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"The certificate of {host} does not hold: {error.verify_message}."
    if isinstance(error, ssl.SSLError):
        return f"No safe connection to {host} could be made."
    if isinstance(error, http.client.HTTPException):
        return f"What {host} answered is not HTTP, or broke off."
    return f"{host} cannot be reached."

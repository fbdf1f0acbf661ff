"""From which network a request comes, believing only the proxies that the site names (TRUSTED_PROXIES)."""

from collections.abc import Iterable
from datetime import date
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

# A household or an office gets this much of IPv6, and may change its addresses within it as often as it likes.
IPV6_PREFIX = 64

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address


def network_of(request: HttpRequest) -> str:
    """Return the client's IPv4 address, or its IPv6 network of 64 bits: a key to count by, not to store.

    Proxies append the address that they were asked from to X-Forwarded-For, so it is read from the right, no further
    than the proxies that the site names: what a client writes there itself stands to the left of that.
    """
    client = _client_of(request)
    if isinstance(client, IPv6Address):
        return str(ip_network((client, IPV6_PREFIX), strict=False))
    return str(client) if client else "unknown"


def can_be_told_apart() -> bool:
    """Tell whether networks are known: not where all requests come from a proxy that the site does not name."""
    return bool(settings.TRUSTED_PROXIES) or not settings.SECURE_PROXY_SSL_HEADER


def digest_of(network: str, *, day: date) -> str:
    """Return what tells a network from others on one day, and leads back to none: its key is another one every day."""
    return salted_hmac(f"throttle.networks.{day.isoformat()}", network, algorithm="sha256").hexdigest()


def read_networks(text: str) -> list[Network]:
    """Return the addresses and networks in `text`, one on each line. Raises ValueError with a line that is none."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        try:
            found.append(ip_network(line, strict=False))
        except ValueError:
            raise ValueError(line) from None
    return found


def is_within(network: str, allowed: Iterable[Network]) -> bool:
    """Tell whether `network`, as `network_of` returns it, is one of `allowed`, or lies in one."""
    try:
        own = ip_network(network)
    except ValueError:
        return False
    if isinstance(own, IPv6Network):
        # One address stands for the network that it lies in.
        return any(isinstance(each, IPv6Network) and each.overlaps(own) for each in allowed)
    return any(isinstance(each, IPv4Network) and own.subnet_of(each) for each in allowed)


def _client_of(request: HttpRequest) -> Address | None:
    trusted = settings.TRUSTED_PROXIES
    peer = _address(request.META.get("REMOTE_ADDR", ""))
    if not trusted:
        return peer
    # From the nearest to the farthest. Without an address the peer is a socket on this machine: a proxy of ours.
    hops = [peer, *(_address(entry) for entry in reversed(request.headers.get("X-Forwarded-For", "").split(",")))]
    nearest = 0
    while nearest + 1 < len(hops) and hops[nearest + 1] is not None and _is_proxy(hops[nearest], nearest):
        nearest += 1
    return hops[nearest]


def _is_proxy(address: Address | None, hops_before: int) -> bool:
    trusted = settings.TRUSTED_PROXIES
    if isinstance(trusted, int):
        return hops_before < trusted
    return address is None or any(address in network for network in trusted)


def _address(text: str) -> Address | None:
    """Read one entry; some proxies add the port, and a system with both protocols writes IPv4 as ::ffff:1.2.3.4."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address

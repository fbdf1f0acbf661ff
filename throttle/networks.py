"""The network of a request, trusting only the proxies that the site names (TRUSTED_PROXIES)."""

from collections.abc import Iterable
from datetime import date
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

# A household or an office gets this much of IPv6, and may change its addresses within it at will.
IPV6_PREFIX = 64

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address


def network_of(request: HttpRequest) -> str:
    """Return the client's IPv4 address, or its IPv6 /64 network: a key to count by, not to store.

    Each proxy appends its peer's address to X-Forwarded-For, so the header is read from the right, past trusted proxies
    only: what a client itself writes there is further left.
    """
    client = _client_address(request)
    if isinstance(client, IPv6Address):
        return str(ip_network((client, IPV6_PREFIX), strict=False))
    return str(client) if client else "unknown"


def are_networks_known() -> bool:
    """Return whether requests' networks are known: not behind a proxy that the site does not name."""
    return bool(settings.TRUSTED_PROXIES) or not settings.SECURE_PROXY_SSL_HEADER


def daily_digest(network: str, *, day: date) -> str:
    """Return a digest of a network for one day, irreversible, with a new key every day."""
    return salted_hmac(f"throttle.networks.{day.isoformat()}", network, algorithm="sha256").hexdigest()


def read_networks(text: str) -> list[Network]:
    """Return the addresses and networks in `text`, one per line. Raises ValueError with the first invalid line."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        try:
            found.append(ip_network(line, strict=False))
        except ValueError:
            raise ValueError(line) from None
    return found


def in_networks(network: str, allowed: Iterable[Network]) -> bool:
    """Return whether `network`, from `network_of`, equals or is inside one of `allowed`."""
    try:
        own = ip_network(network)
    except ValueError:
        return False
    if isinstance(own, IPv6Network):
        # An allowed IPv6 address allows its /64 network.
        return any(isinstance(each, IPv6Network) and each.overlaps(own) for each in allowed)
    return any(isinstance(each, IPv4Network) and own.subnet_of(each) for each in allowed)


def _client_address(request: HttpRequest) -> Address | None:
    trusted = settings.TRUSTED_PROXIES
    peer = _parse_address(request.META.get("REMOTE_ADDR", ""))
    if not trusted:
        return peer
    # From the nearest to the farthest. A peer without an address is a Unix socket of this machine: our own proxy.
    hops = [peer, *(_parse_address(entry) for entry in reversed(request.headers.get("X-Forwarded-For", "").split(",")))]
    nearest = 0
    while nearest + 1 < len(hops) and hops[nearest + 1] is not None and _is_proxy(hops[nearest], nearest):
        nearest += 1
    return hops[nearest]


def _is_proxy(address: Address | None, hops_before: int) -> bool:
    trusted = settings.TRUSTED_PROXIES
    if isinstance(trusted, int):
        return hops_before < trusted
    return address is None or any(address in network for network in trusted)


def _parse_address(text: str) -> Address | None:
    """Parse one entry; some proxies add the port, and dual-stack systems write IPv4 as ::ffff:1.2.3.4."""
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

"""From which network a request comes, believing only the proxies that the site names (TRUSTED_PROXIES)."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

# A household or an office gets this much of IPv6, and may change its addresses within it as often as it likes.
IPV6_PREFIX = 64

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

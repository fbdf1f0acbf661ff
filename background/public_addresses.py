"""Which addresses are public, so that nobody can make this machine reach into its own network (SSRF). Pure."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

# NAT64: the last 32 bits are the IPv4 address that is reached.
_NAT64 = ip_network("64:ff9b::/96")
# A public address at which one cloud provider serves its machines' secrets.
_METADATA_SERVERS = frozenset({ip_address("168.63.129.16")})
# Global unicast IPv6. The rest has other uses, whatever `ipaddress` says about it.
_GLOBAL_UNICAST = ip_network("2000::/3")
# Protocol assignments, not hosts; one cloud serves secrets there.
_PROTOCOL_ASSIGNMENTS = ip_network("192.0.0.0/24")


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


def resolve(host: str, port: int) -> list[Address]:
    """Return the addresses of a host, each once. Raises OSError or UnicodeError if there are none."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ip_address(str(entry[4][0]).partition("%")[0]) for entry in found))

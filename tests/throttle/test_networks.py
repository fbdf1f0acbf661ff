from ipaddress import ip_network

import pytest
from django.test import RequestFactory
from pytest_django import Settings

from throttle.networks import network_of

OURS = (ip_network("10.0.0.0/8"), ip_network("2001:db8:ffff::/48"))


def network(peer: str, forwarded: str | None = None) -> str:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return network_of(RequestFactory().get("/", REMOTE_ADDR=peer, headers=headers))


def test_nobody_is_believed_unless_the_site_names_proxies() -> None:
    assert network("192.0.2.1", "198.51.100.9") == "192.0.2.1"


@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "unknown"),
    ],
)
def test_a_network_is_an_address_or_the_half_of_ipv6_that_one_line_gets(peer: str, expected: str) -> None:
    assert network(peer) == expected


@pytest.mark.parametrize(
    ("hops", "forwarded", "expected"),
    [
        (1, "198.51.100.9", "198.51.100.9"),
        # What the client wrote itself stands to the left of what the proxy added.
        (1, "203.0.113.5, 198.51.100.9", "198.51.100.9"),
        (2, "203.0.113.5, 198.51.100.9, 10.0.0.8", "198.51.100.9"),
        # Fewer entries than proxies: the farthest known.
        (2, "198.51.100.9", "198.51.100.9"),
        (1, None, "10.0.0.7"),
        (1, "rubbish", "10.0.0.7"),
        (2, "rubbish, 198.51.100.9", "198.51.100.9"),
        (1, "198.51.100.9:4711", "198.51.100.9"),
        (1, "[2001:db8:1:2::3]:443", "2001:db8:1:2::/64"),
        (0, "198.51.100.9", "10.0.0.7"),
    ],
)
def test_proxies_told_by_their_number_are_read_from_the_right(
    settings: Settings, hops: int, forwarded: str | None, expected: str
) -> None:
    settings.TRUSTED_PROXIES = hops
    assert network("10.0.0.7", forwarded) == expected


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("10.0.0.7", "198.51.100.9", "198.51.100.9"),
        ("10.0.0.7", "203.0.113.5, 198.51.100.9, 10.1.1.1", "198.51.100.9"),
        ("2001:db8:ffff::1", "198.51.100.9", "198.51.100.9"),
        # Who does not come through a proxy of ours is not believed.
        ("192.0.2.1", "198.51.100.9", "192.0.2.1"),
        # Everybody on the way is ours: the farthest of us asks.
        ("10.0.0.7", "10.0.0.9, 10.0.0.8", "10.0.0.9"),
        # A socket on this machine has no address.
        ("", "198.51.100.9", "198.51.100.9"),
    ],
)
def test_proxies_told_by_their_networks_are_passed_over(
    settings: Settings, peer: str, forwarded: str, expected: str
) -> None:
    settings.TRUSTED_PROXIES = OURS
    assert network(peer, forwarded) == expected

"""Which addresses are public."""

from ipaddress import ip_address

import pytest

from background.public_addresses import is_public, resolve


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.9.10",
        "0.0.0.0",  # noqa: S104 (nothing listens here)
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        # Shared by the customers of a provider; where one cloud keeps its secrets.
        "100.64.0.1",
        "100.100.100.200",
        # Link-local: where most clouds keep theirs.
        "169.254.169.254",
        "168.63.129.16",
        "224.0.0.1",
        "192.0.0.192",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fec0::2",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        # 127.0.0.1 and 10.1.2.3, wrapped: mapped, NAT64, 6to4.
        "::ffff:127.0.0.1",
        "::7f00:1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1",
        "2002:a01:203::1",
    ],
)
def test_no_address_of_a_network_of_its_own_is_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e"])
def test_an_address_of_the_open_network_is_public(address: str) -> None:
    assert is_public(ip_address(address))


def test_a_host_is_resolved_to_each_of_its_addresses_once() -> None:
    assert resolve("127.0.0.1", 80) == [ip_address("127.0.0.1")]
    # 127.0.0.1 as one number, which the system's look-up takes for an address.
    assert resolve("2130706433", 443) == [ip_address("127.0.0.1")]

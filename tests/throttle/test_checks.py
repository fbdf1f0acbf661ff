import pytest
from pytest_django import Settings

from throttle.checks import proxies_are_named


@pytest.mark.parametrize(
    ("header", "proxies", "warned"), [(None, 0, False), (("H", "https"), 0, True), (("H", "https"), 1, False)]
)
def test_a_site_behind_a_proxy_is_told_to_name_it(
    settings: Settings, header: tuple[str, str] | None, proxies: int, warned: bool
) -> None:
    settings.SECURE_PROXY_SSL_HEADER, settings.TRUSTED_PROXIES = header, proxies
    assert [message.id for message in proxies_are_named(None)] == (["throttle.W001"] if warned else [])

"""Signatures as the Standard Webhooks specification has them."""

import base64
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from pytest_django import Settings

from tests.factories import NOON
from workspace.signatures import headers, key_of, key_text, signature

# From the test of the specification's own reference libraries (standard-webhooks/standard-webhooks).
KEY = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
NAME, AT, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
SIGNED = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_message_is_signed_as_the_specification_signs_it() -> None:
    assert signature(KEY, name=NAME, at=AT, body=BODY) == SIGNED


def test_each_of_two_keys_signs_and_the_second_is_whole() -> None:
    sent = headers([b"another", KEY], name=NAME, at=datetime.fromtimestamp(AT + 0.9, UTC), body=BODY)
    assert (sent["webhook-id"], sent["webhook-timestamp"]) == (NAME, "1614265330")
    assert sent["webhook-signature"].split(" ")[1] == SIGNED


def test_a_key_follows_from_its_salt_and_the_sites_secret(settings: Settings) -> None:
    key = key_of("a")
    assert len(key) == 32
    assert key_text("a") == f"whsec_{base64.b64encode(key).decode()}"
    assert key_of("b") != key
    settings.SECRET_KEY = "another-secret-of-another-site"
    assert key_of("a") != key


@pytest.fixture(scope="module")
def check() -> Callable[[str, dict[str, str], bytes], bool]:
    """Return the function that docs/webhooks.md gives to receivers."""
    guide = (Path(__file__).resolve().parents[2] / "docs" / "webhooks.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 (it is ours)
    found: Callable[[str, dict[str, str], bytes], bool] = names["is_from_lineup"]
    return found


def test_what_the_guide_tells_receivers_to_do_takes_what_is_sent_and_nothing_else(check: Callable[..., bool]) -> None:
    body = '{"type": "release.made", "data": {"release": "été"}}'.encode()
    sent = dict(headers([key_of("new"), key_of("before")], name=NAME, at=NOON, body=body))
    with time_machine.travel(NOON + timedelta(minutes=4), tick=False):
        assert check(key_text("new"), sent, body)
        assert check(key_text("before"), sent, body)
        assert not check(key_text("another"), sent, body)
        assert not check(key_text("new"), sent, body + b" ")
        assert not check(key_text("new"), sent | {"webhook-id": "msg_another"}, body)
        assert not check(key_text("new"), sent | {"webhook-timestamp": str(int(NOON.timestamp()) + 1)}, body)
    with time_machine.travel(NOON + timedelta(minutes=6), tick=False):
        assert not check(key_text("new"), sent, body)

"""A real provider of identities by OpenID Connect, as a process of its own, and somebody who signs in there."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.processes import running
from tests.servers import spare_port
from tests.waiting import wait_until

START_SECONDS = 180


@contextmanager
def identity_provider(log: Path) -> Iterator[str]:
    """Run a provider for the length of the block; its issuer is yielded."""
    port = spare_port()
    issuer = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce"]
    with running(command, environment={}, log=log):
        wait_until(lambda: _answers(issuer), seconds=START_SECONDS, why=log.read_text)
        yield issuer


def _answers(issuer: str) -> bool:
    try:
        return httpx.get(f"{issuer}/.well-known/openid-configuration").is_success
    except httpx.TransportError:
        return False


def tell_of(issuer: str, sub: str, **claims: Any) -> None:
    """Let the provider know somebody, with what it tells about them."""
    httpx.put(f"{issuer}/users/{sub}", json=claims).raise_for_status()


def sign_in_there(address: str, sub: str) -> str:
    """Sign in at the provider, where the site has led to, and return the path that it leads back to."""
    answer = httpx.post(address, data={"sub": sub})
    back = urlsplit(answer.headers["Location"])
    return f"{back.path}?{back.query}"

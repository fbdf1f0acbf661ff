"""Tokens of links: each check fails for the token that only it refuses (prolific.md, section 2.3)."""

import json
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from annotation.recruitment.prolific.signed_links import ExpiredLink, ForgedLink, Link, UnknownKey, verify
from tests.prolific import NOON, PERSON

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC: dict[str, Any] = {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key())), "kid": "key-1"}
STUDY, SESSION, WORKSPACE = "66f00000000000000000aa01", "66f00000000000000000bb01", "63722982f9cc073ecc730f6b"
IDS = {"PROLIFIC_PID": PERSON, "STUDY_ID": STUDY, "SESSION_ID": SESSION}
CLAIMS = {
    "iss": "https://www.prolific.com",
    "iat": int(NOON.timestamp()),
    "exp": int(NOON.timestamp()) + 120,
    "aud": "https://annotate.example.org/take/7Qk2/?PROLIFIC_PID=60bf",
    "sub": SESSION,
    "prolific": {**IDS, "workspace_id": WORKSPACE},
}


def token(*, algorithm: str = "RS256", key: Any = KEY, kid: str = "key-1", **claims: object) -> str:
    return jwt.encode({**CLAIMS, **claims}, key, algorithm=algorithm, headers={"kid": kid})


def check(text: str, *, seconds: float = 0, workspace: str = WORKSPACE, host: str = "annotate.example.org") -> None:
    link = Link(IDS, host, workspace)
    verify(text, keys=[PUBLIC], link=link, now=NOON + timedelta(seconds=seconds))


def test_a_token_for_the_link_is_right() -> None:
    check(token())
    check(token(), workspace="")
    check(token(), host="Annotate.Example.org")


@pytest.mark.parametrize("seconds", [-1200, 0, 149])
def test_it_is_valid_for_two_minutes_and_half_a_minute_between_clocks(seconds: int) -> None:
    check(token(), seconds=seconds)


def test_it_expires() -> None:
    with pytest.raises(ExpiredLink):
        check(token(), seconds=151)


def test_another_key_is_unknown() -> None:
    with pytest.raises(UnknownKey):
        check(token(kid="key-2"))


OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "signature"),
        ("a.b.c", "signature"),
        (token(key=OTHER), "signature"),
        (token()[:-6] + "AAAAAA", "signature"),
        (token(algorithm="none", key=None), "another way"),
        (token(algorithm="HS256", key="a secret of at least thirty-two bytes"), "another way"),
        (token(iss="https://www.example.org"), "issuer"),
        (token(exp=None), "no end"),
        (token(aud="https://other.example.org/take/7Qk2/"), "another site"),
        (token(aud="https://annotate.example.org.evil.example/"), "another site"),
        (token(aud=None), "another site"),
        (token(sub="66f00000000000000000bb02"), "another submission"),
        (token(prolific=None), "no ids"),
        (token(prolific={**CLAIMS["prolific"], "PROLIFIC_PID": "60bf9310e8dec401be6e9616"}), "PROLIFIC_PID"),  # type: ignore[dict-item]
        (token(prolific={**CLAIMS["prolific"], "STUDY_ID": "66f0"}), "STUDY_ID"),  # type: ignore[dict-item]
        (token(prolific={**CLAIMS["prolific"], "SESSION_ID": "66f0"}), "SESSION_ID"),  # type: ignore[dict-item]
        (token(prolific={**CLAIMS["prolific"], "workspace_id": "5f00"}), "another workspace"),  # type: ignore[dict-item]
    ],
)
def test_what_is_not_prolifics_or_for_another_link_is_refused(text: str, says: str) -> None:
    with pytest.raises(ForgedLink, match=says):
        check(text)

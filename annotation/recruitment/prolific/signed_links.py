"""Verify the token with which Prolific signs the link of an annotator (prolific.md, section 2.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import jwt

from annotation.recruitment.base import normalize_id
from annotation.recruitment.prolific import entry

TOKEN = "prolific_token"  # noqa: S105
ISSUER = "https://www.prolific.com"
ALGORITHM = "RS256"
# How far the clocks of two servers may differ.
LEEWAY = timedelta(seconds=30)
Key = Mapping[str, Any]


class UnknownKey(Exception):
    """The token names a key that is not among those known: keys may have been replaced."""


class ExpiredLink(Exception):
    """The token is right, but too old."""


class ForgedLink(Exception):
    """The token is not Prolific's, or is for another link. The message says which."""


@dataclass(frozen=True)
class Link:
    """What a token must be for. `query`: of the link. `workspace`: the id of Prolific's; "" if unknown."""

    query: Mapping[str, str]
    host: str
    workspace: str


def verify(token: str, *, keys: Sequence[Key], link: Link, now: datetime) -> None:
    """Check that Prolific signed a link. Raises the errors above.

    `keys`: Prolific's, as JSON Web Keys.
    """
    claims = _read_claims(token, keys)
    if claims.get("iss") != ISSUER:
        raise ForgedLink("The token names another issuer.")
    expires = claims.get("exp")
    if not isinstance(expires, int | float):
        raise ForgedLink("The token has no end.")
    if now.timestamp() > expires + LEEWAY.total_seconds():
        raise ExpiredLink
    if (urlsplit(str(claims.get("aud", ""))).hostname or "") != link.host.casefold():
        raise ForgedLink("The token is for another site.")
    _compare_ids(claims, link)


def _read_claims(token: str, keys: Sequence[Key]) -> Mapping[str, Any]:
    try:
        header = jwt.get_unverified_header(token)
        if header.get("alg") != ALGORITHM:
            raise ForgedLink("The token is signed in another way.")
        key = next((key for key in keys if key.get("kid") == header.get("kid")), None)
        if key is None:
            raise UnknownKey
        # Times and names are checked by `verify`, with its own clock.
        claims: Mapping[str, Any] = jwt.decode(
            token,
            jwt.PyJWK.from_dict(dict(key), ALGORITHM).key,
            algorithms=[ALGORITHM],
            options={
                "verify_exp": False,
                "verify_iat": False,
                "verify_nbf": False,
                "verify_aud": False,
                "verify_iss": False,
                "verify_sub": False,
                "verify_jti": False,
            },
        )
    except jwt.PyJWTError as error:
        raise ForgedLink("The signature is not Prolific's.") from error
    return claims


def _compare_ids(claims: Mapping[str, Any], link: Link) -> None:
    signed = claims.get("prolific")
    if not isinstance(signed, Mapping):
        raise ForgedLink("The token names no ids.")
    for name in (entry.PERSON, entry.STUDY, entry.SESSION):
        if normalize_id(str(signed.get(name, ""))) != normalize_id(link.query.get(name, "")):
            raise ForgedLink(f"The token has another {name} than the link.")
    if normalize_id(str(claims.get("sub", ""))) != normalize_id(link.query.get(entry.SESSION, "")):
        raise ForgedLink("The token is for another submission.")
    if link.workspace and signed.get("workspace_id") != link.workspace:
        raise ForgedLink("The token is from another workspace.")

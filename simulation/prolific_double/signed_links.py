"""Links of participants that the local platform signs, and the keys that it publishes (prolific.md, section 2.3)."""

import base64
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from simulation.prolific_double.rules import new_id
from simulation.prolific_double.store import Document, Store
from simulation.prolific_double.switches import Switch, Switches

KEYS = "/.well-known/study/jwks.json"
VALID_FOR = timedelta(minutes=2)
_KIND, _CURRENT = "signing key", "current"


def public_keys(store: Store) -> Document:
    """Return the key that signs links, as the platform publishes it."""
    document = _current(store)
    numbers = _private(document).public_key().public_numbers()
    key = {
        "kty": "RSA",
        "alg": "RS256",
        "use": "sig",
        "key_ops": ["verify"],
        "kid": document["kid"],
        "n": _encode_number(numbers.n),
        "e": _encode_number(numbers.e),
    }
    return {"keys": [key]}


def sign_link(link: str, ids: Mapping[str, str], *, store: Store, workspace: str, now: datetime) -> str:
    """Return a link with a token for its ids, or what the switches make of it."""
    switches = Switches(store)
    if switches.use(Switch.LINKS_UNSIGNED):
        return link
    if switches.use(Switch.SIGNING_KEY_REPLACED):
        _replace(store)
    document = _current(store)
    if switches.use(Switch.LINKS_FORGED):
        document = {**_new_key(), "kid": document["kid"]}
    if switches.use(Switch.LINKS_EXPIRED):
        now -= 2 * VALID_FOR
    signed = {**ids, "PROLIFIC_PID": new_id()} if switches.use(Switch.LINKS_OF_OTHERS) else ids
    claims = {
        "iss": "https://www.prolific.com",
        "iat": int(now.timestamp()),
        "exp": int((now + VALID_FOR).timestamp()),
        "aud": link,
        "sub": ids["SESSION_ID"],
        "prolific": {**signed, "workspace_id": workspace},
    }
    return f"{link}{'&' if '?' in link else '?'}prolific_token={_token(document, claims)}"


def _token(document: Document, claims: Mapping[str, Any]) -> str:
    header = {"alg": "RS256", "kid": document["kid"], "typ": "JWT"}
    signed = ".".join(_encode(json.dumps(part).encode()) for part in (header, claims))
    return f"{signed}.{_encode(_private(document).sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def _current(store: Store) -> Document:
    return store.find(_KIND, _CURRENT) or _replace(store)


def _replace(store: Store) -> Document:
    document = _new_key()
    store.write(_KIND, document)
    return document


def _new_key() -> Document:
    pem = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return {"id": _CURRENT, "kid": new_id(), "pem": pem.decode()}


def _private(document: Document) -> rsa.RSAPrivateKey:
    key = serialization.load_pem_private_key(document["pem"].encode(), password=None)
    assert isinstance(key, rsa.RSAPrivateKey)  # noqa: S101
    return key


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _encode_number(number: int) -> str:
    return _encode(number.to_bytes((number.bit_length() + 7) // 8, "big"))

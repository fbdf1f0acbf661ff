"""How a webhook's messages are signed, as the Standard Webhooks specification has it, so that its libraries read them.

The key of a webhook follows from a salt in the database and the site's secret, which is not in it: neither alone signs.
"""

import base64
import hashlib
import hmac
from collections.abc import Iterable, Mapping
from datetime import datetime

from django.utils.crypto import salted_hmac

# By it receivers' libraries know what they are given.
PREFIX = "whsec_"
VERSION = "v1"


def key_of(salt: str) -> bytes:
    """Return the key, 32 bytes, that belongs to a salt on this site."""
    return salted_hmac("workspace.webhook", salt, algorithm="sha256").digest()


def key_text(salt: str) -> str:
    """Return that key as it is given to people."""
    return PREFIX + base64.b64encode(key_of(salt)).decode()


def signature(key: bytes, *, name: str, at: int, body: bytes) -> str:
    """Return HMAC-SHA256 of a message's name, the second of its sending (since 1970) and its body, in base64."""
    signed = b".".join((name.encode(), str(at).encode(), body))
    return f"{VERSION},{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}"


def headers(keys: Iterable[bytes], *, name: str, at: datetime, body: bytes) -> Mapping[str, str]:
    """Return what a message bears; of several keys, while one takes another's place, each signs."""
    second = int(at.timestamp())
    return {
        "webhook-id": name,
        "webhook-timestamp": str(second),
        "webhook-signature": " ".join(signature(key, name=name, at=second, body=body) for key in keys),
    }

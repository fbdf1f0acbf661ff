"""Sign webhook messages by the Standard Webhooks specification, so that its libraries verify them.

A webhook's key is derived from a salt in the database and the site's secret, which is not in it: neither is enough to
sign.
"""

import base64
import hashlib
import hmac
from collections.abc import Iterable, Mapping
from datetime import datetime

from django.utils.crypto import salted_hmac

# Receivers' libraries recognise the key by this prefix.
PREFIX = "whsec_"
VERSION = "v1"


def key_of(salt: str) -> bytes:
    """Return the key, 32 bytes, of a salt on this site."""
    return salted_hmac("workspace.webhook", salt, algorithm="sha256").digest()


def key_text(salt: str) -> str:
    """Return the key as text for people to copy."""
    return PREFIX + base64.b64encode(key_of(salt)).decode()


def signature(key: bytes, *, name: str, at: int, body: bytes) -> str:
    """Return HMAC-SHA256 over id, Unix time in seconds and body of a message, in base64."""
    signed = b".".join((name.encode(), str(at).encode(), body))
    return f"{VERSION},{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}"


def headers(keys: Iterable[bytes], *, name: str, at: datetime, body: bytes) -> Mapping[str, str]:
    """Return the headers of a message, with one signature per key: two while a key is being rotated."""
    second = int(at.timestamp())
    return {
        "webhook-id": name,
        "webhook-timestamp": str(second),
        "webhook-signature": " ".join(signature(key, name=name, at=second, body=body) for key in keys),
    }

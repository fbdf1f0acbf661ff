"""Opaque picture names for annotators' pages, different in every study.

Plain SHA-256 addresses would let owners of the original files, or annotators of another study, recognise pictures. A
handle is the SHA-256 and the study id, encrypted (AES-SIV) with a key derived from `SECRET_KEY`, so that no query is
needed to resolve it.
"""

import base64
import binascii
from contextlib import suppress
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.conf import settings
from django.utils.crypto import salted_hmac

_SHA256_BYTES, _STUDY_BYTES = 32, 4


def handle_of(sha256: str, *, study: int) -> str:
    """Return the handle; it is deterministic, because browsers cache pictures by address."""
    return _seal(sha256, study, settings.SECRET_KEY)


def sha256_of(handle: str) -> str:
    """Return the SHA-256 of the picture, "" for an invalid handle."""
    try:
        sealed = base64.b64decode(handle + "=" * (-len(handle) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return ""
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        with suppress(InvalidTag):
            return _cipher(secret).decrypt(sealed, None)[:_SHA256_BYTES].hex()
    return ""


@lru_cache(maxsize=10_000)
def _seal(sha256: str, study: int, secret: str) -> str:
    sealed = _cipher(secret).encrypt(bytes.fromhex(sha256) + study.to_bytes(_STUDY_BYTES, "big"), None)
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


@lru_cache(maxsize=10)
def _cipher(secret: str) -> AESSIV:
    return AESSIV(salted_hmac(__name__, "pictures", secret=secret, algorithm="sha512").digest())

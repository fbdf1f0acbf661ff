"""Encrypt secrets of users in the database, under keys of the site that can be replaced one by one."""

import base64
from collections.abc import Iterator
from datetime import timedelta
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.crypto import salted_hmac

# What owners read where a secret cannot be opened.
LOST_KEY = (
    "They were encrypted under a key that this site no longer has. Ask whoever runs the site to add it to "
    "ENCRYPTION_KEYS."
)


class CannotUnseal(Exception):
    """The secret is too old, or was encrypted under a key that the site no longer has."""


def seal(text: str) -> str:
    """Return a text encrypted and authenticated (Fernet: AES-128-CBC, HMAC-SHA256), with its time."""
    return _fernet().encrypt(text.encode()).decode()


def unseal(sealed: str, *, within: timedelta | None = None) -> str:
    """Return the decrypted text if it is younger than `within`, whatever its age by default. Raises CannotUnseal."""
    try:
        return _fernet().decrypt(sealed.encode(), ttl=int(within.total_seconds()) if within else None).decode()
    except InvalidToken as error:
        raise CannotUnseal from error


def seal_again(sealed: str) -> str:
    """Return a secret encrypted under the newest key, with its time. Raises CannotUnseal."""
    try:
        return _fernet().rotate(sealed.encode()).decode()
    except InvalidToken as error:
        raise CannotUnseal from error


def keyed_digest(text: str, *, purpose: str) -> str:
    """Return a digest (HMAC-SHA256, 64 hexadecimal digits) by which rows are found without storing `text`.

    It is made with the newest key. purpose: what the digests are of, so that equal texts of two kinds differ.
    """
    return keyed_digests(text, purpose=purpose)[0]


def keyed_digests(text: str, *, purpose: str) -> list[str]:
    """Return the digests of `text` under all keys of the site, the newest first: rows may have an older one."""
    return [
        salted_hmac(f"digest of {purpose}", text, secret=secret, algorithm="sha256").hexdigest()
        for secret in _secrets()
    ]


def _fernet() -> MultiFernet:
    """Encrypts with the newest of `ENCRYPTION_KEYS`; decrypts with all of them, and with the site's secret key."""
    return _fernet_of(tuple(_secrets()))


@lru_cache(maxsize=4)
def _fernet_of(secrets: tuple[str | bytes, ...]) -> MultiFernet:
    """Deriving the keys takes longer than encrypting an id does."""
    return MultiFernet(list(map(_derive, secrets)))


def _secrets() -> Iterator[str | bytes]:
    yield from settings.ENCRYPTION_KEYS
    yield settings.SECRET_KEY
    yield from settings.SECRET_KEY_FALLBACKS


def _derive(secret: str | bytes) -> Fernet:
    # The name of this module when the first secrets were encrypted: with another one they would be lost.
    key = salted_hmac("workspace.sealed_secrets", "", secret=secret, algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))

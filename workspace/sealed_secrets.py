"""Encrypt a user's secret in the database for as long as a job needs it, under the site's secret."""

import base64
from datetime import timedelta

from cryptography.fernet import Fernet, InvalidToken
from django.utils.crypto import salted_hmac


class CannotUnseal(Exception):
    """The secret is too old, or was encrypted under another site secret."""


def seal(text: str) -> str:
    """Return a text encrypted and authenticated (Fernet: AES-128-CBC, HMAC-SHA256), with its time."""
    return _fernet().encrypt(text.encode()).decode()


def unseal(sealed: str, *, within: timedelta) -> str:
    """Return the decrypted text if it is younger than `within`. Raises CannotUnseal."""
    try:
        return _fernet().decrypt(sealed.encode(), ttl=int(within.total_seconds())).decode()
    except InvalidToken as error:
        raise CannotUnseal from error


def _fernet() -> Fernet:
    key = salted_hmac("workspace.sealed_secrets", "", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))

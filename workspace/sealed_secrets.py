"""Keeps a secret of somebody's in the database for as long as a job needs it, unreadable without the site's own."""

import base64
from datetime import timedelta

from cryptography.fernet import Fernet, InvalidToken
from django.utils.crypto import salted_hmac


class CannotUnseal(Exception):
    """What was sealed is too old, or was sealed under another secret of the site."""


def seal(text: str) -> str:
    """Return a text encrypted and authenticated (Fernet: AES-128 in CBC mode, HMAC-SHA256), with its moment."""
    return _fernet().encrypt(text.encode()).decode()


def unseal(sealed: str, *, within: timedelta) -> str:
    """Return what was sealed, if that was not longer ago. Raises CannotUnseal."""
    try:
        return _fernet().decrypt(sealed.encode(), ttl=int(within.total_seconds())).decode()
    except InvalidToken as error:
        raise CannotUnseal from error


def _fernet() -> Fernet:
    key = salted_hmac("workspace.sealed_secrets", "", algorithm="sha256").digest()
    return Fernet(base64.urlsafe_b64encode(key))

"""Arrival by an invite link, without a recruitment platform: the shared one of a study, or one of somebody's own."""

import hmac
import re
import secrets
from hashlib import sha256

from annotation.recruitment.base import Entry

PROVIDER = "invite"
LONGEST_NAME = 100
_VISIT = re.compile(r"[0-9a-f]{24}")
_KEY_LENGTH = 32


def new_visit() -> str:
    """Return what the invitation's page carries, so that Start pressed twice on it starts once."""
    return secrets.token_hex(12)


def anonymous_entry(visit: str) -> Entry:
    """Return the arrival of a person nobody knows: whoever started this visit, or else somebody new."""
    person = visit if _VISIT.fullmatch(visit) else new_visit()
    return Entry(provider=PROVIDER, person=person, session_id=person)


def named_entry(name: str) -> Entry:
    """Return the arrival of an annotator of one's own; the same name always comes back to the same session."""
    return Entry(provider=PROVIDER, person=f"name:{name}", session_id=f"name:{name}")


def is_a_name(name: str) -> bool:
    """Tell whether people can be called so: something, not too long, and nothing in it that cannot be seen."""
    return 0 < len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()


def key_of(name: str, *, study: int, secret: str) -> str:
    """Return what the link of `name` carries and nobody can guess: a digest keyed with a secret of the study.

    Raises ValueError without a secret, because everybody could make the key then.
    """
    if not secret:
        raise ValueError("A key cannot be made without a secret.")
    told = f"invitation|{study}|{name}".encode()
    return hmac.new(secret.encode(), told, sha256).hexdigest()[:_KEY_LENGTH]


def fits(key: str, name: str, *, study: int, secret: str) -> bool:
    """Tell whether `key` is the key of `name`."""
    return bool(secret) and hmac.compare_digest(key.encode(), key_of(name, study=study, secret=secret).encode())

"""Arrival by invite link, without a platform: the shared link of a study, or a personal one."""

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
    """Return a random id for the invite page, so that pressing Start twice starts one session."""
    return secrets.token_hex(12)


def anonymous_entry(visit: str) -> Entry:
    """Return the arrival of an unknown person: the one who started this visit, or somebody new."""
    person = visit if _VISIT.fullmatch(visit) else new_visit()
    return Entry(provider=PROVIDER, person=person, session_id=person)


def named_entry(name: str) -> Entry:
    """Return the arrival of a named annotator; the same name always leads to the same session."""
    return Entry(provider=PROVIDER, person=f"name:{name}", session_id=f"name:{name}")


def new_member() -> str:
    """Return a random id for a person of a panel."""
    return f"member:{secrets.token_hex(12)}"


def member_entry(person: str, *, number: int) -> Entry:
    """Return the arrival of a person of a panel in their session of this `number` in a study, from 1."""
    return Entry(provider=PROVIDER, person=person, session_id=f"{person}:{number}")


def is_valid_name(name: str) -> bool:
    """Whether `name` is a valid name: not empty, not too long, printable, no surrounding spaces."""
    return 0 < len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()


def key_of(name: str, *, study: int, secret: str) -> str:
    """Return the unguessable key in the personal link of `name`: a digest keyed with a secret of the study.

    Raises ValueError without a secret, because then everybody could compute the key.
    """
    if not secret:
        raise ValueError("A key cannot be made without a secret.")
    told = f"invitation|{study}|{name}".encode()
    return hmac.new(secret.encode(), told, sha256).hexdigest()[:_KEY_LENGTH]


def is_key_of(key: str, name: str, *, study: int, secret: str) -> bool:
    """Whether `key` is the key of `name`."""
    return bool(secret) and hmac.compare_digest(key.encode(), key_of(name, study=study, secret=secret).encode())

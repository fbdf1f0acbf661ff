"""Arrival by a plain invite link, without a recruitment platform."""

import re
import secrets

from annotation.recruitment.base import Entry

PROVIDER = "invite"
LONGEST_NAME = 100
_VISIT = re.compile(r"[0-9a-f]{24}")


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

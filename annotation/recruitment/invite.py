"""Arrival by a plain invite link, without a recruitment platform."""

import secrets

from annotation.recruitment.base import Entry

PROVIDER = "invite"
LONGEST_NAME = 100


def anonymous_entry() -> Entry:
    """Return the arrival of a person nobody knows: a new one each time, kept apart by the browser's cookie."""
    person = secrets.token_hex(12)
    return Entry(provider=PROVIDER, person=person, session_id=person)


def named_entry(name: str) -> Entry:
    """Return the arrival of an annotator of one's own; the same name always comes back to the same session."""
    return Entry(provider=PROVIDER, person=f"name:{name}", session_id=f"name:{name}")

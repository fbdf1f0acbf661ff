"""Reads the address under which Prolific sends an annotator (prolific.md, sections 2.1 and 2.5)."""

from collections.abc import Mapping

from annotation.recruitment.base import Entry

PROVIDER = "prolific"
PERSON, STUDY, SESSION = "PROLIFIC_PID", "STUDY_ID", "SESSION_ID"
LONGEST_ID = 200
# What ends up in the link when the placeholders were mistyped, or the page was opened by a script.
_NOT_AN_ID = {"undefined", "null", "none", "nan"}


class MissingIds(Exception):
    """One or more of the three ids is absent or empty."""


class UnfilledIds(Exception):
    """The link still holds a placeholder instead of an id."""


def read_entry(query: Mapping[str, str]) -> Entry:
    """Return who came, from the query of the link. Raises MissingIds or UnfilledIds.

    An id may be anything that is short and printable: Prolific's own are 24 hexadecimal digits, but it promises
    no format, and researchers try their link with ids of their own.
    """
    values = [query.get(name, "").strip() for name in (PERSON, STUDY, SESSION)]
    if not all(values):
        raise MissingIds
    if not all(map(_is_id, values)):
        raise UnfilledIds
    person, study, session = values
    return Entry(provider=PROVIDER, person=person, session_id=session, study_id=study)


def read_person(query: Mapping[str, str]) -> str:
    """Return whose link it is, "" when its query does not say."""
    person = query.get(PERSON, "").strip()
    return person if _is_id(person) else ""


def _is_id(value: str) -> bool:
    if "{{" in value or "}}" in value or "%7b" in value.lower() or value.lower() in _NOT_AN_ID:
        return False
    return len(value) <= LONGEST_ID and value.isprintable()

"""Parse the address with which Prolific sends an annotator (prolific.md, sections 2.1 and 2.5)."""

import re
from collections.abc import Mapping

from annotation.recruitment.base import Entry, normalize_id

PROVIDER = "prolific"
PERSON, STUDY, SESSION = "PROLIFIC_PID", "STUDY_ID", "SESSION_ID"
# What the address of a study on Prolific ends with: Prolific fills the ids in.
PLACEHOLDERS = "&".join(f"{name}={{{{%{name}%}}}}" for name in (PERSON, STUDY, SESSION))
LONGEST_ID = 200
_OBJECT_ID = re.compile(r"[0-9a-f]{24}")
# Values in links from scripts that had no id.
_NOT_AN_ID = {"undefined", "null", "none", "nan"}
# Placeholders that were not filled in: {{%ID%}}, {ID}, %ID%, ${ID}, <ID>, [ID], and the same URL-encoded.
_PLACEHOLDER = re.compile(r"[{}<>\[\]$]|%7b|%7d|^%.*%$", re.IGNORECASE)


class MissingIds(Exception):
    """At least one of the three ids is absent or empty."""


class UnfilledIds(Exception):
    """The link still contains a placeholder instead of an id."""


class NotIds(Exception):
    """The link contains something that cannot be an id of the platform."""


def read_entry(query: Mapping[str, str], *, any_ids: bool) -> Entry:
    """Return the arrival in the query of a link. Raises MissingIds, UnfilledIds or NotIds.

    Ids of persons and sessions are 24 hexadecimal digits, as on Prolific; with `any_ids` any short printable text. The
    id of the study may be any short printable text: it identifies nobody.
    """
    values = [query.get(name, "").strip() for name in (PERSON, STUDY, SESSION)]
    if not all(values):
        raise MissingIds
    if any(map(_is_unfilled, values)):
        raise UnfilledIds
    written_person, study, written_session = values
    person, session = normalize_id(written_person), normalize_id(written_session)
    fits = _is_printable if any_ids else _OBJECT_ID.fullmatch
    if not (fits(person) and fits(session) and _is_printable(study)):
        raise NotIds
    return Entry(
        provider=PROVIDER,
        person=person,
        session_id=session,
        study_id=study,
        person_as_written=written_person,
        session_as_written=written_session,
    )


def read_person(query: Mapping[str, str]) -> str:
    """Return the person in the query of a link, "" if there is none."""
    person = query.get(PERSON, "").strip()
    return "" if _is_unfilled(person) or not _is_printable(person) else normalize_id(person)


def _is_unfilled(value: str) -> bool:
    bare = value.strip("%{}$ ").casefold()
    names = {name.casefold() for name in (PERSON, STUDY, SESSION)}
    return bool(_PLACEHOLDER.search(value)) or bare in names or bare in _NOT_AN_ID


def _is_printable(value: str) -> bool:
    return 0 < len(value) <= LONGEST_ID and value.isprintable()

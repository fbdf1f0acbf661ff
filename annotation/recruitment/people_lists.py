"""Parse lists of people, one per line: ids of a group, names for personal links."""

from collections.abc import Callable, Iterable, Sequence

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from annotation.recruitment import invite
from annotation.recruitment.base import normalize_id
from annotation.recruitment.prolific.entry import LONGEST_ID
from annotation.recruitment.prolific.entry import PROVIDER as PROLIFIC
from studies.errors import StudyError

PROVIDERS = (PROLIFIC, invite.PROVIDER)
PROBLEMS_TOLD = 10


def parse_ids(text: str, *, provider: str) -> list[str]:
    """Return the normalised ids at `provider` in `text`; for invitations these are made from names.

    Raises StudyError with the number of each invalid line.
    """
    if provider not in PROVIDERS:
        raise StudyError("Say what the list holds: ids of Prolific's, or names of people who are invited.")
    return _read_lines(text, _invited_id if provider == invite.PROVIDER else _id)


def _read_lines(text: str, read: Callable[[str], str]) -> list[str]:
    found, problems = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                found.append(read(line.strip()))
            except ValueError as error:
                problems.append(f"Line {number} {error}")
    _refuse(problems)
    return found


def _refuse(problems: Sequence[str]) -> None:
    """Raise StudyError for `problems` if there are any: the first few, and the number of others."""
    more = len(problems) - PROBLEMS_TOLD
    if more > 0:
        problems = [*problems[:PROBLEMS_TOLD], f"The same holds for {more} more."]
    if problems:
        raise StudyError(*problems)


def _invited_id(name: str) -> str:
    if not invite.is_valid_name(name):
        raise ValueError("is not a name that can be invited.")
    return invite.named_entry(name).person


def _id(line: str) -> str:
    person = normalize_id(line)
    if not 0 < len(person) <= LONGEST_ID or not person.isprintable() or " " in person:
        raise ValueError("is not an id of a person.")
    return person


def parse_addresses(text: str) -> list[str]:
    """Return the mail addresses in `text`, one per line, each once.

    Raises StudyError with the number of each invalid line.
    """
    return list(dict.fromkeys(_read_lines(text, _address)))


def _address(line: str) -> str:
    address = normalize_id(line)
    try:
        validate_email(address)
    except ValidationError:
        raise ValueError("is not an email address.") from None
    return address


def parse_names(text: str) -> list[str]:
    """Return the names in `text`, one per line; names may contain spaces."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def check_names(names: Iterable[str]) -> None:
    """Raise StudyError for names that no link can carry."""
    needed = f"1 to {invite.LONGEST_NAME} characters that can be seen, without spaces around them"
    unusable = [name for name in names if not invite.is_valid_name(name)]
    _refuse([f"{name!r} cannot be used as the name of a link. It needs {needed}." for name in unusable])

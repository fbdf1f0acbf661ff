"""People whom a researcher writes down, one on each line: ids of a group, names that get links."""

from collections.abc import Callable, Iterable, Sequence

from annotation.recruitment import invite
from annotation.recruitment.base import one_spelling
from annotation.recruitment.prolific.entry import LONGEST_ID
from annotation.recruitment.prolific.entry import PROVIDER as PROLIFIC
from studies.errors import StudyError

PROVIDERS = (PROLIFIC, invite.PROVIDER)
PROBLEMS_TOLD = 10


def parse_ids(text: str, *, provider: str) -> list[str]:
    """Return the ids at `provider` that stand in `text`, in their one spelling; of invited people it has the names.

    Raises StudyError with the number of each line that holds no such id.
    """
    if provider not in PROVIDERS:
        raise StudyError("Say what the list holds: ids of Prolific's, or names of people who are invited.")
    return _listed(text, _invited_id if provider == invite.PROVIDER else _id)


def _listed(text: str, read: Callable[[str], str]) -> list[str]:
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
    """Raise StudyError for `problems` if there are any, of many for the first and for how many more."""
    more = len(problems) - PROBLEMS_TOLD
    if more > 0:
        problems = [*problems[:PROBLEMS_TOLD], f"The same holds for {more} more."]
    if problems:
        raise StudyError(*problems)


def _invited_id(name: str) -> str:
    if not invite.is_a_name(name):
        raise ValueError("is no name of somebody who is invited.")
    return invite.named_entry(name).person


def _id(line: str) -> str:
    person = one_spelling(line)
    if not 0 < len(person) <= LONGEST_ID or not person.isprintable() or " " in person:
        raise ValueError("is no id of a person.")
    return person


def parse_names(text: str) -> list[str]:
    """Return the names that stand in `text`, one on each line: there may be a space in one."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def check_names(names: Iterable[str]) -> None:
    """Raise StudyError for names that no link can carry."""
    needed = f"1 to {invite.LONGEST_NAME} characters that can be seen, without spaces around them"
    unusable = [name for name in names if not invite.is_a_name(name)]
    _refuse([f"{name!r} is no name that a link can carry. It needs {needed}." for name in unusable])

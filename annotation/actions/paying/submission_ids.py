"""Ids of submissions at Prolific, which are stored encrypted."""

import re
from collections.abc import Iterable

from annotation.models import Payment, Submission
from annotation.recruitment.prolific.connection import ProlificError
from background.sealed_secrets import CannotUnseal, unseal

# Also one that was cut off.
_ID = re.compile(r"\b[0-9a-f]{6,}\b")


def submission_id(submission: Submission) -> str:
    """Return the id of a submission at Prolific. Raises ProlificError."""
    try:
        return unseal(submission.sealed_id)
    except CannotUnseal as error:
        raise ProlificError(
            "The id of a submission was encrypted under a key that this site no longer has. Read the study again.",
            status=None,
            body=None,
        ) from error


def submission_ids(rows: Iterable[Payment]) -> dict[int, str]:
    """Return the session of each payment -> the id of its submission at Prolific. Raises ProlificError."""
    sessions = {row.session_id for row in rows}
    found = Submission.objects.filter(session__in=sessions)
    return {each.session_id: submission_id(each) for each in found if each.session_id is not None}


def without_ids(error: ProlificError) -> str:
    """Return the sentence of an error for pages, which name nobody by an id of Prolific's."""
    return _ID.sub("(a submission)", error.sentence)

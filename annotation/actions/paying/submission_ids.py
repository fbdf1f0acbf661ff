"""Ids of submissions at Prolific, which are stored encrypted."""

import re
from collections.abc import Collection, Sequence

from annotation.actions.paying.payment_states import Clock, State, move
from annotation.models import Payment, Submission
from annotation.recruitment.prolific.connection import ProlificError
from background.sealed_secrets import CannotUnseal, unseal

# Also one that was cut off.
_ID = re.compile(r"\b[0-9a-f]{6,}\b")
NO_ID = "The ID of this submission is deleted, or no key of this site decrypts it. Pay on Prolific."


def submission_id(submission: Submission) -> str:
    """Return the id of a submission at Prolific, "" if it was erased or no key of the site opens it."""
    try:
        return unseal(submission.sealed_id) if submission.sealed_id else ""
    except CannotUnseal:
        return ""


def submission_ids(rows: Collection[Payment]) -> dict[int, str]:
    """Return each payment (by id) whose submission is known -> the id of that at Prolific."""
    found = Submission.objects.filter(session__in={row.session_id for row in rows} - {None})
    by_session = {each.session_id: id_ for each in found if (id_ := submission_id(each))}
    return {row.pk: by_session[row.session_id] for row in rows if row.session_id in by_session}


def refuse_unknown(rows: Sequence[Payment], now: Clock) -> tuple[list[Payment], dict[int, str]]:
    """Refuse the rows whose submission is not known; return the others, with the ids of their submissions."""
    ids = submission_ids(rows)
    move([row for row in rows if row.pk not in ids], to=State.REFUSED, now=now(), problem=NO_ID)
    return [row for row in rows if row.pk in ids], ids


def without_ids(error: ProlificError) -> str:
    """Return the sentence of an error for pages, which name nobody by an id of Prolific's."""
    return _ID.sub("(a submission)", error.sentence)

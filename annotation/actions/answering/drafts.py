"""Drafts of written answers, so that annotators can continue on another device.

The page sends a draft every few seconds. Nobody else reads it and it counts nowhere. It is deleted when the answer is
stored or the seat is released.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext

from annotation.errors import BadAnswer, TooManyAtOnce
from annotation.models import Draft, Session, SessionState, Slot
from studies.kinds import get_kind
from throttle.counters import hit

# Characters of all fields together; no kind allows texts of nearly this length.
LONGEST = 20_000
MOST_FIELDS = 30
# A page sends at most one draft every three seconds, and two pages may be open.
MOST_PER_MINUTE = 60


def count_draft(*, session: Session, now: datetime) -> None:
    """Count a draft against the rate limit of its session. Raises TooManyAtOnce.

    Runs outside a transaction.
    """
    verdict = hit(scope="drafts", key=session.token, limit=MOST_PER_MINUTE, window=timedelta(minutes=1), now=now)
    if not verdict.allowed:
        raise TooManyAtOnce(gettext("Your page sends too much at once."), retry_after=verdict.retry_after)


def save(*, session: Session, slot: int, fields: Mapping[str, str], now: datetime) -> int | None:
    """Save what the form of an open question holds, replacing the earlier draft; return the number of the draft.

    Returns None and saves nothing if the question is not open in this session or is not of a written kind. Raises
    BadAnswer if the text is too long.
    """
    if len(fields) > MOST_FIELDS or sum(map(len, fields.values())) + sum(map(len, fields)) > LONGEST:
        raise BadAnswer(gettext("This text is too long to save."))
    # PostgreSQL stores no NUL characters.
    kept = {name.replace("\0", ""): text.replace("\0", "") for name, text in fields.items()}
    with transaction.atomic():
        # Write the session first, as answers do: the draft is stored before the answer deletes it, or finds the slot
        # answered. An answer that has read the session already reads it again.
        working = Session.objects.filter(pk=session.pk, state=SessionState.WORKING)
        is_working = working.update(last_seen_at=now)
        mine = Slot.objects.filter(pk=slot, seat__session=session, annotator=session.annotator_id, answered_at=None)
        kind = mine.values_list("question__kind", flat=True).first()
        if not is_working or kind is None or not get_kind(kind).is_written:
            return None
        draft, is_first = Draft.objects.get_or_create(
            session=session, slot_id=slot, defaults={"fields": kept, "saved_at": now}
        )
        if is_first:
            return draft.number
        Draft.objects.filter(pk=draft.pk).update(fields=kept, saved_at=now, number=F("number") + 1)
        return draft.number + 1


def drafts_by_slot(*, session: Session, slots: Sequence[Slot]) -> dict[int, Draft]:
    """Return the drafts of `session` by slot; no query if none of `slots` is of a written kind."""
    written = [slot.pk for slot in slots if get_kind(slot.question.kind).is_written]
    if not written:
        return {}
    return {draft.slot_id: draft for draft in Draft.objects.filter(session=session, slot__in=written)}


def discard(*, session: int, slot: int | None = None) -> None:
    """Delete the draft of a session for `slot`, or all its drafts."""
    drafts = Draft.objects.filter(session=session)
    (drafts if slot is None else drafts.filter(slot=slot)).delete()

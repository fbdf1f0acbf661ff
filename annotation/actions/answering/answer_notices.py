"""Notices to annotators about answers that were replaced or not stored, kept until they are seen."""

import uuid
from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.models import Annotator, AnswerNotice, Response, Session, Slot
from studies.models import Project


def add(
    *, session: Session, slot: Slot, submission: uuid.UUID, answer: Any, why: AnswerNotice.Why, now: datetime
) -> None:
    """Create a notice about an answer, once per submission and reason.

    Runs in a transaction that has locked the session. answer: the whole answer; None if it cannot be read.
    """
    what = {"slot": slot, "number": _number_of(session, slot), "answer": answer, "at": now}
    AnswerNotice.objects.get_or_create(session=session, submission_id=submission, why=why, defaults=what)
    _count(session)


def _number_of(session: Session, slot: Slot) -> int:
    """Return the number of the question in `slot`, from 1, as the pages count.

    Open questions before it count too: an answer to one of them may still arrive.
    """
    answered = Response.objects.filter(session=session, is_current=True, slot__isnull=False)
    if slot.seat.session_id != session.pk:
        return 1 + answered.filter(slot__position__lt=slot.position).count()
    before = Slot.objects.filter(annotator=session.annotator_id, position__lt=slot.position, seat=slot.seat_id)
    return 1 + answered.filter(slot__seat__claimed_at__lt=slot.seat.claimed_at).count() + before.count()


def unseen_notices(session: Session) -> QuerySet[AnswerNotice]:
    return AnswerNotice.objects.filter(session=session, seen_at=None).select_related("slot__question")


def discard_for_answer(*, session: Session, slot: Slot, answer: Any, now: datetime) -> None:
    """Discard unseen notices about `answer`, which is now the current answer in `slot`."""
    if session.unseen_notices:
        told = [notice.pk for notice in unseen_notices(session).filter(slot=slot) if notice.answer == answer]
        _mark_seen(session, told, now=now)


@transaction.atomic
def see(*, session: Session, notices: Collection[int], now: datetime) -> None:
    """Mark `notices` of this session as seen."""
    locked = Session.objects.select_for_update(of=("self",), no_key=True).get(pk=session.pk)
    _mark_seen(locked, notices, now=now)
    session.unseen_notices = locked.unseen_notices


def _mark_seen(session: Session, notices: Collection[int], *, now: datetime) -> None:
    unseen_notices(session).filter(pk__in=notices).update(seen_at=now, answer=None)
    _count(session)


def _count(session: Session) -> None:
    session.unseen_notices = AnswerNotice.objects.filter(session=session, seen_at=None).count()
    Session.objects.filter(pk=session.pk).update(unseen_notices=session.unseen_notices)


def drop(*, annotator: Annotator, project: Project) -> None:
    """Delete all notices for an annotator in a project, because none of their answers is used any more."""
    AnswerNotice.objects.filter(session__annotator=annotator, session__study__project=project).delete()
    Session.objects.filter(annotator=annotator, study__project=project).update(unseen_notices=0)

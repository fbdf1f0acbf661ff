"""Responses: what an annotator sends, stored once, never overwritten."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from annotation.actions import sessions
from annotation.actions.decisions import decide_question
from annotation.errors import BadAnswer, NotYourQuestion
from annotation.models import Response, Session, SessionState, Slot
from studies.kinds import get_kind, posted_values, shown_order
from studies.models import Question


@dataclass(frozen=True)
class Sent:
    """What one press of Send carries. `measured` is what the browser says of the question's showing."""

    slot: int
    submission: uuid.UUID
    value: str
    replaces: int | None = None
    measured: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Receipt:
    """What became of a sent answer. `stored` is false only when the session may not answer (any more) and a newer
    one of the same person will. `late`: kept, but its place had gone to somebody else. `first_kept`: the question
    already had an answer of this session, which stands."""

    session: Session
    stored: bool = True
    late: bool = False
    first_kept: bool = False


def order_for(*, session: Session, question: Question) -> list[str]:
    """Return the option keys of `question` in the order this annotator sees them."""
    kind = get_kind(question.kind)
    return shown_order(
        kind, question.content, seed=session.study.seed, annotator=session.annotator_id, question=question.pk
    )


def key_of(question: Question, order: list[str], value: str) -> str:
    """Return the option that the page posts as `value`. Raises BadAnswer."""
    by_value = posted_values(get_kind(question.kind), question.content, order)
    if value not in by_value:
        raise BadAnswer("Choose one of the options shown, then send again.")
    return by_value[value]


def submit(*, token: str, sent: Sent, now: datetime) -> Receipt:
    """Store an answer. The same submission again changes nothing. Raises NotYourQuestion or BadAnswer."""
    with transaction.atomic():
        slot = _locked_slot(token=token, slot=sent.slot)
        session = slot.session
        order = order_for(session=session, question=slot.question)
        choice = key_of(slot.question, order, sent.value)
        if sent.replaces is not None:
            return _replace(slot=slot, sent=sent, choice=choice, order=order, now=now)
        if session.state == SessionState.LAPSED:
            session = sessions.revive(session=session, now=now)
        taken = session.state == SessionState.WORKING and _take(slot=slot, session=session, now=now)
        if not taken:
            return _not_taken(slot=slot, session=session, sent=sent, choice=choice, order=order, now=now)
        _store(slot=slot, session=session, sent=sent, choice=choice, order=order, now=now)
        answered = F("questions_answered") + 1
        Session.objects.filter(pk=session.pk).update(questions_answered=answered, last_seen_at=now)
        session.questions_answered += 1
        decide_question(question=slot.question, rule=session.study.rule, now=now, only_answer=choice)
        if session.questions_answered == session.questions_total:
            sessions.finish(session=session, now=now)
        return Receipt(session)


@dataclass(frozen=True)
class _HeldSlot:
    """A slot with the session that sends for it (which may have lost it meanwhile)."""

    pk: int
    question: Question
    session: Session


def _locked_slot(*, token: str, slot: int) -> _HeldSlot:
    # One query for all that sending an answer needs; the lock makes two tabs of one session take turns.
    session = (
        Session.objects.select_for_update(of=("self",))
        .select_related("study")
        .defer("study__source", "study__design", "comment")
        .filter(token=token)
        .first()
    )
    found = Slot.objects.select_related("question").filter(pk=slot).first()
    if session is None or found is None or not _was_given(session=session, slot=found):
        raise NotYourQuestion("This question does not belong to your session. Reload the page to go on.")
    return _HeldSlot(pk=found.pk, question=found.question, session=session)


def _was_given(*, session: Session, slot: Slot) -> bool:
    if slot.annotator_id == session.annotator_id:
        return True
    # The session held the seat and lost it: what it still sends is late, not wrong.
    return session.last_seat_id is not None and session.last_seat_id == slot.seat_id


def _take(*, slot: _HeldSlot, session: Session, now: datetime) -> bool:
    """Mark the slot answered, unless it already is or is no longer this annotator's."""
    mine = Slot.objects.filter(pk=slot.pk, annotator=session.annotator_id, answered_at=None)
    return bool(mine.update(answered_at=now))


def _not_taken(
    *, slot: _HeldSlot, session: Session, sent: Sent, choice: str, order: list[str], now: datetime
) -> Receipt:
    earlier = Response.objects.filter(question=slot.question, annotator=session.annotator_id).first()
    if earlier is not None:
        return Receipt(session, first_kept=earlier.submission_id != sent.submission)
    if Slot.objects.filter(pk=slot.pk, annotator=session.annotator_id, answered_at=None).exists():
        # The question is open: this session is not at its questions yet, or a newer one of the same person is.
        return Receipt(session, stored=False)
    _store(slot=slot, session=session, sent=sent, choice=choice, order=order, now=now, counted=False)
    return Receipt(session, late=True)


def _store(
    *,
    slot: _HeldSlot,
    session: Session,
    sent: Sent,
    choice: str,
    order: list[str],
    now: datetime,
    version: int = 1,
    counted: bool = True,
) -> None:
    Response.objects.create(
        study_id=session.study_id,
        question=slot.question,
        session=session,
        annotator_id=session.annotator_id,
        slot_id=slot.pk if counted else None,
        version=version,
        submission_id=sent.submission,
        choice=choice,
        shown_order=order,
        received_at=now,
        **sent.measured,
    )


def _replace(*, slot: _HeldSlot, sent: Sent, choice: str, order: list[str], now: datetime) -> Receipt:
    """Store a change of mind as the next version, if the session is still at work and the version is the latest."""
    session = slot.session
    current = Response.objects.select_for_update().filter(session=session, slot=slot.pk, is_current=True).first()
    if current is None or session.state != SessionState.WORKING:
        raise BadAnswer("This answer can no longer be changed; your first answer is kept.")
    if current.submission_id == sent.submission:
        return Receipt(session)
    if current.version != sent.replaces:
        return Receipt(session, first_kept=True)
    Response.objects.filter(pk=current.pk).update(is_current=False)
    _store(slot=slot, session=session, sent=sent, choice=choice, order=order, now=now, version=current.version + 1)
    Session.objects.filter(pk=session.pk).update(last_seen_at=now)
    decide_question(question=slot.question, rule=session.study.rule, now=now, only_answer=choice)
    return Receipt(session)


def open_slots(*, session: Session, limit: int) -> list[Slot]:
    """Return the next `limit` slots that `session` has still to answer, with their questions, in order."""
    slots = Slot.objects.filter(seat__session=session, answered_at=None)
    return list(slots.select_related("question").order_by("position")[:limit])


def last_response(*, session: Session) -> Response | None:
    """Return the current response that `session` sent last, the one it may still change."""
    responses = Response.objects.filter(session=session, is_current=True, slot__isnull=False)
    return responses.select_related("question").order_by("-slot__position").first()

"""Steps of a session after its instructions, and when its lease ends (docs/decisions/0030-a-live-sitting-grows.md).

Instructions lead to practice or questions, the lobby to a seat, and the last answer to more questions or the end.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from annotation.actions import seats, sessions
from annotation.actions.answering import live_sessions, practice_rounds
from annotation.actions.arriving import lobby
from annotation.actions.removing.redact_descriptions import withdraw_redacted
from annotation.models import Annotator, Session, SessionState, Slot
from annotation.models.sessions import OPEN_STATES
from studies.actions.events import Actor
from studies.models import StudyState


def begin(*, session: Session, part: int, now: datetime) -> None:
    """Continue from the instructions of `part` to practice or to the questions.

    Practice comes first if the study has some and the annotator has not passed it. A later part begins only when no
    question of the parts before it is open.
    """
    study, annotator = session.study, session.annotator
    if session.state == SessionState.WORKING:
        left_before = _open_slots(session).filter(part__lt=part)
        if session.part_begun < part < len(study.design.parts) and not left_before.exists():
            Session.objects.filter(pk=session.pk).update(part_begun=part, last_seen_at=now)
            session.refresh_from_db()
        return
    lease = {"lease_until": now + sessions.lease_of(study)} if sessions.is_on_first_lease(session) else {}
    if practice_rounds.is_required(study=study, annotator=annotator):
        practice_round = practice_rounds.current_round(study=study, annotator=annotator)
        sessions.move(session=session, to=SessionState.PRACTICE, now=now, practice_round=practice_round, **lease)
    else:
        begin_work(session=session, now=now, **lease)


def begin_work(*, session: Session, now: datetime, **fields: Any) -> None:
    if not session.questions_total:
        # It has no seat: nothing was ready on arrival, or its questions were withdrawn since.
        until = lobby.wait_deadline(session=session, now=now)
        if sessions.move(session=session, to=SessionState.WAITING, now=now, **fields | {"lease_until": until}):
            update_waiting(session=session, now=now)
        return
    begun = session.first_question_at or now
    sessions.move(session=session, to=SessionState.WORKING, now=now, first_question_at=begun, **fields)


def update_waiting(*, session: Session, now: datetime) -> None:
    """Move a waiting session to its questions if some are ready, or end it when nothing will come.

    It also ends when its waiting time is over. Does nothing in any other state.
    """
    study, annotator = session.study, session.annotator
    if session.state != SessionState.WAITING:
        return
    room = live_sessions.remaining_questions(session=session, now=now) if session.questions_answered else None
    is_over = session.lease_until <= now and lobby.has_lobby(study)
    if is_over or study.state == StudyState.CLOSED or room == 0:
        # An annotator who left the page has not waited; they may come back to it.
        waited = study.state == StudyState.CLOSED or lobby.is_page_open(session=session)
        _end_waiting(session, to=SessionState.WAITED if waited else SessionState.LAPSED, now=now)
    elif study.state == StudyState.PAUSED:
        # While the study is paused, nobody gets a seat and nobody is sent away.
        return
    elif lobby.has_questions_ready(study=study, annotator=annotator, now=now):
        _resume_from_lobby(session=session, now=now)
    elif not (lobby.may_get_questions if session.questions_answered else lobby.may_wait)(
        study=study, annotator=annotator, now=now
    ):
        _end_waiting(session, to=SessionState.WAITED, now=now)


def _end_waiting(session: Session, *, to: SessionState, now: datetime) -> None:
    """End a waiting session: as finished if it has answers, otherwise in the state `to`."""
    if session.questions_answered:
        sessions.finish(session=session, now=now)
    elif to == SessionState.WAITED and not lobby.has_lobby(session.study):
        # All its questions were withdrawn, and the study does not pay for waiting: a researcher decides.
        sessions.leave(session=session, to=SessionState.LEFT_OUT, now=now)
    else:
        sessions.leave(session=session, to=to, now=now)


@transaction.atomic
def _resume_from_lobby(*, session: Session, now: datetime) -> None:
    locked = _lock_session(session, SessionState.WAITING)
    if locked is None:
        return
    is_first = not locked.questions_answered
    given = lobby.take_seat(
        session=locked, now=now, room=None if is_first else live_sessions.remaining_questions(session=locked, now=now)
    )
    if given is not None:
        lease = now + sessions.lease_of(locked.study) if is_first else _extended_lease(locked, now)
        first = {"first_question_at": locked.first_question_at or now} if is_first else {}
        total = locked.questions_total + given
        sessions.move(
            session=locked, to=SessionState.WORKING, now=now, lease_until=lease, questions_total=total, **first
        )
    session.refresh_from_db()


def _lock_session(session: Session, state: SessionState) -> Session | None:
    """Return the current row of `session`, locked after its annotator; None in another state.

    The lock order is that of `sessions.start`.
    """
    sessions.lock_annotator(Annotator.objects.filter(pk=session.annotator_id))
    found = Session.objects.select_for_update(of=("self",)).select_related("study", "annotator")
    return found.filter(pk=session.pk, state=state).first()


def _extended_lease(session: Session, now: datetime) -> datetime:
    """Return the lease for questions that a session receives in addition."""
    return max(live_sessions.ends_at(session), now + live_sessions.LEAST_TIME) + sessions.GRACE


@transaction.atomic
def advance(*, session: Session, now: datetime) -> None:
    """Move a working session without open questions to more questions, to the lobby or to its end.

    Does nothing if a question is open; repeating it changes nothing. Questions whose authors have withdrawn are
    skipped; a session that had no others continues like a new one.

    Do not call it in the transaction of an answer: that would lock the session before the study.
    """
    locked = _lock_session(session, SessionState.WORKING)
    if locked is not None:
        withdraw_redacted(locked)
    if locked is not None and not _open_slots(locked).exists():
        if locked.questions_total:
            _advance_after_answers(locked, now=now)
        else:
            begin_work(session=locked, now=now)
    session.refresh_from_db()


def _advance_after_answers(locked: Session, *, now: datetime) -> None:
    room = live_sessions.remaining_questions(session=locked, now=now)
    # Questions skipped in its seat move to somebody else with the seat.
    if not room or not seats.close_if_answered(session=locked, now=now):
        sessions.finish(session=locked, now=now)
    elif given := lobby.take_seat(session=locked, now=now, room=room):
        lease, total = _extended_lease(locked, now), locked.questions_total + given
        Session.objects.filter(pk=locked.pk).update(questions_total=total, lease_until=lease, last_seen_at=now)
    elif lobby.may_get_questions(study=locked.study, annotator=locked.annotator, now=now):
        until = lobby.wait_deadline(session=locked, now=now)
        sessions.move(session=locked, to=SessionState.WAITING, now=now, lease_until=until)
    else:
        sessions.finish(session=locked, now=now)


def _open_slots(session: Session) -> QuerySet[Slot]:
    return Slot.objects.filter(seat__session=session, annotator=session.annotator_id, answered_at=None)


def finish_if_done(*, session: Session, now: datetime) -> None:
    """Finish a session that has no open question, or that waits for more: the annotator has pressed Finish."""
    waits_for_more = session.state == SessionState.WAITING and session.questions_answered > 0
    if waits_for_more or (session.state == SessionState.WORKING and not _open_slots(session).exists()):
        sessions.finish(session=session, now=now)


def expire(*, by: Actor, now: datetime) -> int:
    """End open sessions whose lease is over, or that are silent before their first answer; return how many lapsed.

    Their seats become free. Repeating it changes nothing.
    """
    lapsed = 0
    is_due = Q(lease_until__lt=now) | sessions.is_silent(now=now)
    due = Session.objects.filter(is_due, ended_at=None).values_list("pk", flat=True)
    for pk in list(due):
        with transaction.atomic():
            found = Session.objects.select_for_update(of=("self",)).select_related("study__project")
            # Read again under the lock: it may have answered, ended or sent a sign in the meantime.
            session = found.filter(is_due, pk=pk, state__in=OPEN_STATES).first()
            if session is not None:
                withdraw_redacted(session)
                if session.state == SessionState.WAITING:
                    update_waiting(session=session, now=now)
                    continue
                if session.state == SessionState.WORKING and session.questions_answered == session.questions_total > 0:
                    # Every question is answered; only the last look is missing.
                    sessions.finish(session=session, now=now)
                    continue
                if live_sessions.has_filled_first_seat(session):
                    sessions.leave(session=session, to=SessionState.FINISHED, now=now)
                    continue
                lapsed += sessions.end_early(session=session, to=SessionState.LAPSED, by=by, now=now)
    return lapsed

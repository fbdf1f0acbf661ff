"""The time of a session: how long its annotator has worked, and when its lease ends."""

from datetime import datetime

from analytics.work.working_time import SentAnswer, seconds_at_work
from annotation.actions import sessions
from annotation.actions.answering import live_sessions
from annotation.models import Response, Session, SessionState, Slot
from annotation.models.sessions import OPEN_STATES


def work_seconds(*, session: Session) -> list[float]:
    """Return the seconds of work for each answer of `session`, in order of arrival."""
    if session.first_question_at is None or not session.questions_answered:
        return []
    first = Response.objects.filter(session=session, version=1).order_by("received_at", "pk")
    answers = [SentAnswer(*row) for row in first.values_list("received_at", "send_ms", "hidden_ms")]
    return seconds_at_work(session.first_question_at, answers)


def estimated_seconds(*, session: Session) -> float | None:
    """Return the estimated seconds per question; None if the session has no questions.

    The estimate of the study is for a whole survey; a live session starts with fewer questions.
    """
    if live_sessions.may_grow(session.study):
        return session.study.design.time.estimated_minutes * 60 / session.study.design.surveys.size
    questions = Slot.objects.filter(seat__session=session).count()
    return session.study.design.time.estimated_minutes * 60 / questions if questions else None


def ending(*, session: Session) -> datetime | None:
    """Return when the time of `session` ends; None before it has begun, in the lobby, and once it has ended.

    The seat is kept a little longer (`sessions.GRACE`), for answers in transit.
    """
    if session.state not in OPEN_STATES - {SessionState.WAITING} or sessions.is_on_first_lease(session):
        return None
    return session.lease_until - sessions.GRACE

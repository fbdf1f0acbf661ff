"""Letting those who have a question before them go on without it: it is asked of nobody any more."""

from datetime import datetime

from django.db.models import F

from annotation.actions import sessions
from annotation.models import Draft, Session, SessionState, Slot
from annotation.models.sessions import OPEN_STATES
from studies.models import Question


def spare_those_who_have(question: Question, *, now: datetime) -> int:
    """Let every open session go on without `question`; return how many had nothing left and were ended.

    Runs in a transaction.
    """
    open_here = Slot.objects.filter(question=question, answered_at=None, annotator__isnull=False)
    # The sessions before their slots, as an answer locks them: one on its way is stored before, or finds it gone.
    holding = Session.objects.filter(state__in=OPEN_STATES, seats__slots__in=open_here).order_by("pk")
    ended = 0
    for session in holding.select_for_update(of=("self",)).select_related("study"):
        mine = Slot.objects.filter(question=question, annotator=session.annotator_id, answered_at=None)
        Draft.objects.filter(session=session, slot__question=question).delete()
        if not mine.update(annotator=None):
            continue
        Session.objects.filter(pk=session.pk).update(questions_total=F("questions_total") - 1)
        session.refresh_from_db(fields=["questions_total"])
        if session.questions_answered == session.questions_total:
            _end(session, now=now)
            ended += session.state not in OPEN_STATES
    return ended


def _end(session: Session, *, now: datetime) -> None:
    if session.state == SessionState.WORKING:
        sessions.come_to_the_end(session=session, now=now)
    else:
        sessions.leave(session=session, to=SessionState.STOPPED, now=now)

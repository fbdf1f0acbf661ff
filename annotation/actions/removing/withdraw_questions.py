"""Withdraw a question from the sessions that have it."""

from django.db.models import F

from annotation.actions import seats
from annotation.models import Draft, Session, Slot
from annotation.models.sessions import OPEN_STATES
from studies.models import Question


def withdraw_from_all_sessions(question: Question) -> None:
    """Withdraw `question` from every open session that holds it.

    Runs in a transaction that has locked no study yet, because draws lock their session first. No session ends here:
    one without open questions continues when its annotator returns (`advance_session.advance`).
    """
    open_here = Slot.objects.filter(question=question, answered_at=None, annotator__isnull=False)
    # Lock sessions before their slots, as answers do: one in transit is stored before, or finds the question withdrawn.
    holding = Session.objects.filter(state__in=OPEN_STATES, seats__slots__in=open_here).order_by("pk")
    for session in holding.select_for_update(of=("self",)):
        withdraw_from(session, question)


def withdraw_from(session: Session, question: Question) -> None:
    """Withdraw an open `question` from `session`, which is locked. An answer in transit is still stored."""
    mine = Slot.objects.filter(question=question, annotator=session.annotator_id, answered_at=None)
    Draft.objects.filter(session=session, slot__question=question).delete()
    if not mine.update(annotator=None, withdrawn_from=session):
        return
    Session.objects.filter(pk=session.pk).update(questions_total=F("questions_total") - 1)
    session.refresh_from_db(fields=["questions_total"])
    if not session.questions_total:
        # It starts again like a new session, without a seat to reclaim.
        seats.release(session=session)
        Session.objects.filter(pk=session.pk).update(last_seat=None)

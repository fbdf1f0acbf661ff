"""Reports of annotators about faulty questions, with an answer or instead of one."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from annotation.actions.answering import responses, skip_allowance, skip_question
from annotation.errors import BadAnswer, CannotSkip, NotYourQuestion
from annotation.models import Report, Session, SessionState, Slot
from annotation.models.sessions import OPEN_STATES

Reason = Report.Reason


@transaction.atomic
def report(*, session: Session, slot: int, reason: str, words: str, instead: bool, now: datetime) -> Report:
    """Store a report about a question of this session; a second report replaces the first.

    instead: skip the question, within the allowance for skips whose images the server has. Raises NotYourQuestion,
    BadAnswer without a reason, or CannotSkip if the allowance is used up; then nothing is stored.
    """
    session = Session.objects.select_for_update(of=("self",)).select_related("study").get(pk=session.pk)
    given = Slot.objects.select_related("question").filter(pk=slot, question__study=session.study_id).first()
    if given is None or session.state not in OPEN_STATES or not _is_theirs(session, given):
        raise NotYourQuestion(gettext("This question does not belong to your session. Reload the page to continue."))
    if reason not in Reason.values:
        raise BadAnswer(gettext("Choose what is wrong with the question."))
    if reason == Reason.OTHER and not words.strip():
        raise BadAnswer(gettext("Say in a few words what is wrong with the question."))
    goes_on = instead and _skip_slot(session, given, now=now)
    told = {"session": session, "study_id": session.study_id, "reason": reason, "words": words.strip(), "at": now}
    kept, _ = Report.objects.update_or_create(
        question=given.question,
        annotator_id=session.annotator_id,
        defaults=told | ({"instead_of_answer": True} if goes_on else {}),
    )
    return kept


def _is_theirs(session: Session, slot: Slot) -> bool:
    return slot.annotator_id == session.annotator_id or responses.is_skipped_or_withdrawn(session=session, slot=slot)


def _skip_slot(session: Session, slot: Slot, *, now: datetime) -> bool:
    if session.state != SessionState.WORKING or slot.answered_at is not None:
        return False
    if responses.is_skipped_or_withdrawn(session=session, slot=slot):
        return True
    if skip_allowance.remaining(session=session) <= 0:
        raise CannotSkip(
            gettext("You have skipped as many questions as is allowed."),
            gettext("Answer it as well as you can and report it with your answer, or stop here."),
        )
    return skip_question.leave_out(session=session, slot=slot, images=[], now=now)

"""Report the session's outcome to the platform; store the annotator's comment."""

from datetime import datetime

from annotation.actions import sessions
from annotation.actions.answering import responses
from annotation.models import Session, SessionState
from annotation.models.sessions import OUTCOMES
from annotation.recruitment import invite
from annotation.session_pay import is_short
from studies.actions.completion_codes import completion_code
from studies.models import Outcome


def save_comment(*, session: Session, text: str) -> None:
    """Store the annotator's comment on the study; only after a finished session, the last version counts."""
    if session.state == SessionState.FINISHED:
        Session.objects.filter(pk=session.pk).update(comment=text)


def show_completion_code(*, session: Session, now: datetime) -> str:
    """Return `code_for` and record when it was first shown."""
    if code := code_for(session=session, now=now):
        Session.objects.filter(pk=session.pk, handed_back_at=None).update(handed_back_at=now)
    return code


def code_for(*, session: Session, now: datetime) -> str:
    """Return the completion code for how `session` ended; "" if there is none."""
    outcome = _outcome(session, now)
    if outcome is None or session.provider == invite.PROVIDER:
        return ""
    return completion_code(study=session.study, outcome=outcome)


def _outcome(session: Session, now: datetime) -> Outcome | None:
    """Return the outcome reported to the platform.

    None while the session is open or may continue, and where the study wants the submission returned.
    """
    if session.state == SessionState.FINISHED and session.has_unlikely_times:
        return Outcome.UNLIKELY_TIMES
    if is_short(session.state, responses.stored_answers(session=session), session.study.design):
        # The completion code of a full session pays the full amount.
        return Outcome.FEW_ANSWERS
    outcome = OUTCOMES.get(SessionState(session.state))
    endings = session.study.design.endings
    if outcome == Outcome.STOPPED and endings.stopped != "code":
        return None
    if outcome == Outcome.TIME_OVER and (endings.time_over != "code" or sessions.can_revive(session=session, now=now)):
        return None
    return outcome

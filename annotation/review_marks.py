"""Why a researcher should look at a session before its submission is approved."""

from annotation.models import Session, Submission
from annotation.session_pay import is_short


def review_marks(submission: Submission, answers: int) -> list[str]:
    """Return the reasons in words, none for a session that may be approved with the others.

    answers: all stored answers of the session.
    """
    session = submission.session
    marks = _session_marks(session, answers) if session is not None else []
    if submission.flag:
        marks.append(Submission.Flag(submission.flag).label)
    if submission.return_requested_at is not None:
        marks.append("Was asked to return")
    return marks


def _session_marks(session: Session, answers: int) -> list[str]:
    marks = []
    if session.has_unlikely_times:
        marks.append("Unlikely times")
    if is_short(session.state, answers, session.study.design):
        marks.append(f"Few answers: {answers} of {session.study.design.pay.least_answers}")
    return marks

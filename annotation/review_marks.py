"""Why a researcher should look at a session before its submission is approved."""

from annotation.models import Session, Submission
from annotation.session_pay import is_short


def review_marks(submission: Submission, answers: int, took_part: Session | None = None) -> list[str]:
    """Return the reasons in words, none for a session that may be approved with the others.

    took_part: the session of another study in which they took part instead. answers: all stored answers of that, else
    of the session.
    """
    session = took_part or submission.session
    marks = _session_marks(session, answers) if session is not None else []
    if took_part is not None:
        marks.append(f"Took part in {took_part.study.slug} instead")
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

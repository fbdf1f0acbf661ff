"""Live sessions: they can receive more questions while others answer (docs/decisions/0030-a-live-sitting-grows.md).

These functions only read; `advance_session` makes the changes.
"""

from datetime import datetime, timedelta

from annotation.models import Seat, Session
from annotation.models.sessions import OPEN_STATES
from studies.models import Study, StudyState

# Minimum time for questions received shortly before the time limit.
LEAST_TIME = timedelta(minutes=15)


def may_grow(study: Study) -> bool:
    """Whether sessions of `study` can receive more questions: a study with a lobby that asks about answers.

    A study with a last look cannot: a last look needs a last question.
    """
    design = study.design
    return bool(design.lobby.minutes) and design.asks_about_answers and not design.answering.last_look


def remaining_questions(*, session: Session, now: datetime) -> int:
    """Return how many more questions a session may receive after its own; 0 for none."""
    study = session.study
    if not may_grow(study) or study.state != StudyState.OPEN or now >= ends_at(session):
        return 0
    if session.annotator.blocked:
        return 0
    left = study.design.surveys.size - session.questions_total
    return left if left >= study.design.questions_per_instance else 0


def ends_at(session: Session) -> datetime:
    """Return when a session stops receiving questions: at its time limit, including waiting time."""
    time = session.study.design.time
    more = time.more_minutes if session.more_time_at is not None else 0
    return session.arrived_at + timedelta(minutes=time.limit_minutes + more)


def has_filled_first_seat(session: Session) -> bool:
    """Whether an open live session has answered all questions of its first seat.

    Such a session may stop at any time and counts as finished.
    """
    if session.state not in OPEN_STATES or not may_grow(session.study):
        return False
    return Seat.objects.filter(session=session, filled_at__isnull=False).exists()

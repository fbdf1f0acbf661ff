"""Sittings that grow: in a live study somebody is asked more than was ready when they were led on
(docs/decisions/0030-a-live-sitting-grows.md). What is here only looks; `sessions` does it."""

from datetime import datetime, timedelta

from annotation.models import Seat, Session
from annotation.models.sessions import OPEN_STATES
from studies.actions.questions import questions_per_instance
from studies.models import Study, StudyState

# For what is taken up towards the end of the time.
LEAST_TIME = timedelta(minutes=15)


def may_grow(study: Study) -> bool:
    """Tell whether sittings of `study` grow: people wait there for answers that others are still giving.

    A last look needs an end to look back from.
    """
    design = study.design
    return bool(design.lobby.minutes) and design.asks_about_answers and not design.answering.last_look


def remaining_questions(*, session: Session, now: datetime) -> int:
    """Return how many more questions a sitting may take up that has answered its own; 0 for none."""
    study = session.study
    if not may_grow(study) or study.state != StudyState.OPEN or now >= ends_at(session):
        return 0
    if session.annotator.blocked:
        return 0
    left = study.design.surveys.size - session.questions_total
    return left if left >= questions_per_instance(study) else 0


def ends_at(session: Session) -> datetime:
    """Return when a sitting takes up nothing more: when its time on the platform is over, waiting included."""
    time = session.study.design.time
    more = time.more_minutes if session.more_time_at is not None else 0
    return session.arrived_at + timedelta(minutes=time.limit_minutes + more)


def has_filled_first_seat(session: Session) -> bool:
    """Tell whether an open session has answered all that it was given at first: it owes nothing of what came later."""
    if session.state not in OPEN_STATES or not may_grow(session.study):
        return False
    return Seat.objects.filter(session=session, filled_at__isnull=False).exists()

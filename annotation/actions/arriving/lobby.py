"""The lobby of a study with an upstream study.

Arrivals wait there while nothing is ready, receive questions as soon as something is, and end with an outcome of their
own if nothing comes in time.
"""

from datetime import datetime, timedelta

from django.db.models import QuerySet

from annotation.actions import seats
from annotation.actions.answering import live_sessions
from annotation.actions.arriving import draw_questions
from annotation.actions.arriving.eligibility import find_bars
from annotation.models import Annotator, Seat, Session, SessionState, Slot
from studies.actions.questions import selected_instances
from studies.models import Instance, Study, StudyState

# Browsers throttle the timers of background pages to one per minute.
SILENCE = timedelta(minutes=2)


def has_lobby(study: Study) -> bool:
    """Whether people may wait in `study` while nothing is ready."""
    return bool(study.design.lobby.minutes)


def may_wait(*, study: Study, annotator: Annotator | None, now: datetime) -> bool:
    """Whether `annotator` (None: somebody new) may wait in `study` while nothing is ready for them."""
    if not has_lobby(study) or study.state == StudyState.CLOSED:
        return False
    before = Session.objects.filter(study=study, annotator=annotator, state=SessionState.WAITED)
    # Waiting is paid once, whatever the number of surveys.
    if study.design.lobby.pay and before.exists():
        return False
    return may_get_questions(study=study, annotator=annotator, now=now)


def is_page_open(*, session: Session) -> bool:
    """Whether the page of a waiting session was open until its time was over; it polls regularly."""
    return session.last_seen_at >= session.lease_until - SILENCE


def may_get_questions(*, study: Study, annotator: Annotator | None, now: datetime) -> bool:
    """Whether the upstream study has, or may get, something to ask `annotator` about."""
    if study.fed_by is None or study.design.instances.sample is not None:
        return False
    # Answers that can still be undone are ready in a moment.
    if draw_questions.could_draw(study=study, annotator=annotator, now=now + draw_questions.UNDO):
        return True
    kept_away = find_bars(study=study, annotator=annotator).instances
    about = selected_instances(study).order_by().exclude(pk__in=kept_away)
    return _may_be_answered(study.fed_by, about, besides=annotator, now=now)


def may_get_questions_later(*, study: Study, annotator: Annotator | None, now: datetime) -> bool:
    """Whether `study` may get questions for `annotator` later; also while the upstream study is a draft or paused."""
    feeding = study.fed_by if study.design.instances.sample is None else None
    stands_still = feeding is not None and feeding.state in (StudyState.DRAFT, StudyState.PAUSED)
    return stands_still or may_get_questions(study=study, annotator=annotator, now=now)


def _may_be_answered(study: Study, about: QuerySet[Instance], *, besides: Annotator | None, now: datetime) -> bool:
    """Whether anybody but the waiting annotator `besides` has or may get a question of `study` about `about`."""
    if study.state != StudyState.OPEN:
        return False
    still_open = Slot.objects.to_come().filter(seat__study=study, question__instance__in=about)
    if besides is not None:
        still_open = still_open.exclude(annotator=besides)
    if still_open.exists() or draw_questions.could_draw(
        study=study, annotator=None, about=about, now=now + draw_questions.UNDO
    ):
        return True
    if study.fed_by is None or study.design.instances.sample is not None:
        return False
    return _may_be_answered(study.fed_by, about & selected_instances(study).order_by(), besides=besides, now=now)


def has_questions_ready(*, study: Study, annotator: Annotator | None, now: datetime) -> bool:
    """Whether `annotator` (None: somebody new) would get a seat now; nothing is locked."""
    free = seats.has_free_seat(study=study, annotator=annotator)
    return free or draw_questions.could_draw(study=study, annotator=annotator, now=now)


def take_seat(*, session: Session, now: datetime, seat: Seat | None = None, room: int | None = None) -> int | None:
    """Give `session` a free seat, or one opened for it; return its number of questions, None if there is none.

    seat: preferred seat. room: maximum number of questions. Runs in a transaction.
    """
    given = seats.claim(session=session, now=now, seat=seat) if seat is not None else None
    if given is None:
        given = seats.claim(session=session, now=now, room=room)
    if given is None:
        draw_questions.draw(study=session.study, annotator=session.annotator, now=now, room=room)
        # Also if nothing was drawn: somebody else may have opened seats while this waited for the lock of the study.
        # With that lock held, this must not wait for a seat whose holder waits for the lock.
        given = seats.claim(session=session, now=now, room=room, waits=False)
    return given


def wait_deadline(*, session: Session, now: datetime) -> datetime:
    """Return until when `session` waits from now on; a session with answers waits no longer than it may grow."""
    longest = now + timedelta(minutes=session.study.design.lobby.minutes)
    return min(longest, live_sessions.ends_at(session)) if session.questions_answered else longest

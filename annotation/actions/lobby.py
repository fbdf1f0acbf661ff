"""The lobby of a study that takes its instances from another one. Whoever arrives while nothing is ready for them waits
there, is led on as soon as something is, and ends with an outcome of their own where nothing came in time."""

from datetime import datetime, timedelta

from annotation.actions import drawing, seats
from annotation.models import Annotator, Seat, Session, SessionState, Slot
from studies.models import Study, StudyState

# Browsers let a page that nobody looks at ask once a minute.
SILENCE = timedelta(minutes=2)


def is_open_to(*, study: Study, annotator: Annotator | None, now: datetime) -> bool:
    """Tell whether somebody, None for a newcomer, for whom nothing is ready in `study` may wait for it."""
    if not study.design.lobby.minutes or study.state == StudyState.CLOSED:
        return False
    if study.design.lobby.pay and _has_waited(study, annotator):
        return False
    return _may_bring(study, annotator, now=now)


def _has_waited(study: Study, annotator: Annotator | None) -> bool:
    """Tell whether somebody has waited in vain before: however many surveys one may take, that is paid once."""
    return Session.objects.filter(study=study, annotator=annotator, state=SessionState.WAITED).exists()


def is_still_there(*, session: Session) -> bool:
    """Tell whether the page of a session that waits was open until its time was over: it asks again and again."""
    return session.last_seen_at >= session.lease_until - SILENCE


def _may_bring(study: Study, annotator: Annotator | None, *, now: datetime) -> bool:
    """Tell whether the study that feeds `study` has, or may get, something that `annotator` can be asked about."""
    feeding = study.fed_by
    if feeding is None or study.design.instances.sample is not None:
        return False
    # Answers that can still be taken back are ready in a moment.
    if drawing.could_draw(study=study, annotator=annotator, now=now + drawing.UNDO):
        return True
    if feeding.state != StudyState.OPEN:
        return False
    if Slot.objects.filter(seat__study=feeding, answered_at=None).exists():
        return True
    return drawing.could_draw(study=feeding, annotator=None, now=now) or _may_bring(feeding, None, now=now)


def is_something_ready(*, study: Study, annotator: Annotator | None, now: datetime) -> bool:
    """Tell whether `annotator`, None for somebody new, would get a place now, without locking anything."""
    free = seats.is_one_free(study=study, annotator=annotator)
    return free or drawing.could_draw(study=study, annotator=annotator, now=now)


def take_place(*, session: Session, now: datetime, seat: Seat | None = None) -> int | None:
    """Give `session` a free seat, that one if it still is, or one that is opened for it; return how many questions it
    brings, None where there is none. Runs in a transaction."""
    given = seats.claim(session=session, now=now, seat=seat) or seats.claim(session=session, now=now)
    if given is None and drawing.draw(study=session.study, annotator=session.annotator, now=now):
        given = seats.claim(session=session, now=now)
    return given


def waits_until(*, study: Study, now: datetime) -> datetime:
    return now + timedelta(minutes=study.design.lobby.minutes)

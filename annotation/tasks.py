from django.utils import timezone

from annotation.actions.answering import advance_session
from annotation.actions.arriving import network_places
from background.decorator import task
from studies.actions.events import TIMETABLE


@task(name="annotation.expire_sessions", minutes=5)
def expire_sessions() -> None:
    now = timezone.now()
    advance_session.expire(by=TIMETABLE, now=now)
    network_places.forget_networks(now=now)

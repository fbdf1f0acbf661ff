from django.utils import timezone

from annotation.actions.answering import advance_session
from annotation.actions.arriving import network_places
from annotation.actions.removing import old_ids
from background.decorator import task
from studies.actions.events import TIMETABLE


@task(name="annotation.expire_sessions", minutes=5)
def expire_sessions() -> None:
    now = timezone.now()
    advance_session.expire(by=TIMETABLE, now=now)
    network_places.forget_networks(now=now)


@task(name="annotation.delete_old_ids", minutes=30)
def delete_old_ids() -> None:
    old_ids.check_keys()
    old_ids.delete_old_ids(by=TIMETABLE, now=timezone.now())

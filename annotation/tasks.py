from django.utils import timezone

from annotation.actions import leading_on, network_places
from background.decorator import task
from studies.actions.events import TIMETABLE


@task(name="annotation.expire_sessions", minutes=5)
def expire_sessions() -> None:
    now = timezone.now()
    leading_on.expire(by=TIMETABLE, now=now)
    network_places.forget_networks(now=now)

from django.utils import timezone

from annotation.actions import leading_on
from background.decorator import task
from studies.actions.events import TIMETABLE


@task(name="annotation.expire_sessions", minutes=5)
def expire_sessions() -> None:
    leading_on.expire(by=TIMETABLE, now=timezone.now())

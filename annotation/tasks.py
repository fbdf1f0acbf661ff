from django.utils import timezone

from annotation.actions import sessions
from background.decorator import task
from studies.actions.events import TIMETABLE


@task(name="annotation.expire_sessions", minutes=5)
def expire_sessions() -> None:
    sessions.expire(by=TIMETABLE, now=timezone.now())

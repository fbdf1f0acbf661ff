from django.utils import timezone

from annotation.actions import sessions
from background import task


@task(name="annotation.expire_sessions", minutes=5)
def expire_sessions() -> None:
    sessions.expire(now=timezone.now())

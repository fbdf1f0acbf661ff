from celery import shared_task
from django.utils import timezone

from annotation.actions import sessions


@shared_task(name="annotation.expire_sessions")
def expire_sessions() -> None:
    sessions.expire(now=timezone.now())

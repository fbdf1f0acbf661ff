from django.utils import timezone

from annotation.actions.answering import advance_session
from annotation.actions.arriving import network_places
from annotation.actions.recruiting import arrival_checks, submissions
from background.decorator import task
from studies.actions.events import TIMETABLE

# A message that waits longer is dropped: the next minute sends another.
FOLLOW_EVERY_SECONDS = 60


@task(name="annotation.expire_sessions", minutes=5)
def expire_sessions() -> None:
    now = timezone.now()
    advance_session.expire(by=TIMETABLE, now=now)
    network_places.forget_networks(now=now)


@task(name="annotation.follow_prolific", minutes=5)
def follow_prolific() -> None:
    """Have workers read what is due; the database has the record, also of webhooks whose message was lost."""
    now = timezone.now()
    for study in submissions.due_studies(now=now):
        read_prolific_study.send((study,), expires=FOLLOW_EVERY_SECONDS)
    for session in arrival_checks.unverified_sessions(now=now):
        verify_arrival.send((session,), expires=FOLLOW_EVERY_SECONDS)


@task(name="annotation.read_prolific_study", minutes=5)
def read_prolific_study(study: int) -> None:
    submissions.read_study(study=study, now=timezone.now())


@task(name="annotation.verify_arrival", minutes=5)
def verify_arrival(session: int) -> None:
    arrival_checks.ask_again(session=session, now=timezone.now())

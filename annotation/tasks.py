from contextlib import suppress

from django.utils import timezone

from annotation.actions.answering import advance_session
from annotation.actions.arriving import network_places
from annotation.actions.recruiting import prolific_studies
from annotation.models import ProlificStudy
from annotation.recruitment.prolific.connection import ProlificError
from background.decorator import task
from studies.actions.events import TIMETABLE
from studies.errors import StudyError


@task(name="annotation.expire_sessions", minutes=5)
def expire_sessions() -> None:
    now = timezone.now()
    advance_session.expire(by=TIMETABLE, now=now)
    network_places.forget_networks(now=now)


@task(name="annotation.update_prolific_people", minutes=5)
def update_prolific_people() -> None:
    """Keep out on Prolific who may not take part by now, and let in who may."""
    running = ProlificStudy.objects.filter(status__in=prolific_studies.RUNNING)
    for one in running.select_related("study__project").order_by("pk"):
        # The next time does better; the page of the study says what is wrong when its state is read.
        with suppress(StudyError, ProlificError):
            prolific_studies.update_people(prolific_study=one)

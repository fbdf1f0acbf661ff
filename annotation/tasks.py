from django.utils import timezone

from annotation.actions.answering import advance_session
from annotation.actions.arriving import network_places
from annotation.actions.paying.send_payments import projects_to_pay, send_project
from background.decorator import task
from studies.actions.events import TIMETABLE
from studies.models import Project


@task(name="annotation.expire_sessions", minutes=5)
def expire_sessions() -> None:
    now = timezone.now()
    advance_session.expire(by=TIMETABLE, now=now)
    network_places.forget_networks(now=now)


@task(name="annotation.send_payments", minutes=5)
def send_payments() -> None:
    """Send a message for each project: one whose platform is slow keeps nobody else waiting."""
    for project in projects_to_pay():
        send_project_payments.send((project,), expires=60)


@task(name="annotation.send_project_payments", minutes=10)
def send_project_payments(project_id: int) -> None:
    """Run periodically, and when somebody orders payments."""
    project = Project.objects.filter(pk=project_id).first()
    if project is not None:
        send_project(project=project, now=timezone.now)

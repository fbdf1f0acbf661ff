"""Celery tasks. A task calls actions and sends the mails that they noted; it is idempotent."""

from django.utils import timezone

from annotation.actions.launching.complete_study import note_completed
from background.decorator import task
from background.tasks import send
from studies.actions.events import TIMETABLE
from workspace import mail
from workspace.actions import (
    acceptance_messages,
    alarms,
    browser_sessions,
    deliveries,
    panel_mails,
    project_deletion,
    uploaded_images,
)


@task(name="workspace.deliver", minutes=5)
def deliver() -> None:
    """Run periodically and on demand."""
    deliveries.deliver(now=timezone.now)


@task(name="workspace.note_news", minutes=5)
def note_news() -> None:
    """Queue messages about events that no single action notices."""
    now = timezone.now()
    alarms.record_underpaid(by=TIMETABLE, now=now)
    acceptance_messages.queue_acceptance_messages(now=now)
    deliveries.delete_old(now=now)


@task(name="workspace.note_completed", minutes=5)
def note_completed_studies() -> None:
    """Marked before mailing: a mail that fails is not sent again, and the page says the same."""
    for completed in note_completed(by=TIMETABLE, now=timezone.now()):
        if completed.study.mails_when_complete:
            mail.send_completion(completed.study, is_closed=completed.is_closed)


@task(name="workspace.mail_panel_links", minutes=5)
def mail_panel_links() -> None:
    """Run periodically and on demand."""
    panel_mails.send_links(now=timezone.now)


@task(name="workspace.forget_sessions", minutes=10)
def forget_sessions() -> None:
    browser_sessions.delete_ended(now=timezone.now())


@task(name="workspace.delete_projects", minutes=5)
def delete_projects() -> None:
    for job in project_deletion.due_jobs(now=timezone.now()):
        send(job)


@task(name="workspace.discard_images", minutes=10)
def discard_images() -> None:
    uploaded_images.discard_unused(now=timezone.now())

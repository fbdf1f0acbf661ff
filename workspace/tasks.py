"""Celery tasks. A task calls actions and sends the mails that they noted; it is idempotent."""

import logging

from django.utils import timezone

from annotation.actions.launching.complete_study import note_completed
from background.decorator import task
from background.tasks import send
from results.actions import policies
from studies.actions.events import TIMETABLE
from studies.errors import StudyError
from studies.models import Study
from training.messages import PUSHED
from workspace import mail
from workspace.actions import (
    acceptance_messages,
    alarms,
    browser_sessions,
    deliveries,
    model_push,
    panel_mails,
    person_mails,
    project_deletion,
    uploaded_images,
)

logger = logging.getLogger(__name__)


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


@task(name="workspace.check_policies", minutes=5)
def check_policies() -> None:
    """Send a message for each study: one whose numbers take long keeps nobody else waiting."""
    for study in policies.studies_with_policies():
        check_study_policies.send((study,), expires=60)


@task(name="workspace.check_study_policies", minutes=5)
def check_study_policies(study_id: int) -> None:
    """Mail once the pause is stored: the mail of a lost worker is lost, and the page says the same."""
    study = Study.objects.select_related("project").get(pk=study_id)
    paused = policies.act_on_policies(study=study, by=TIMETABLE, now=timezone.now())
    if paused:
        mail.send_policy_pause(paused.study, paused.reasons)
    study.refresh_from_db(fields=["state"])
    try:
        policies.pause_on_prolific(study=study, by=TIMETABLE, now=timezone.now())
    except StudyError as error:
        logger.warning("Study %s is not paused on Prolific yet: %s", study.slug, error)


@task(name="workspace.mail_panel_links", minutes=5)
def mail_panel_links() -> None:
    """Run periodically and on demand."""
    panel_mails.send_links(now=timezone.now)


@task(name="workspace.send_person_messages", minutes=5)
def send_person_messages() -> None:
    """Run periodically and on demand."""
    person_mails.send_messages(now=timezone.now)


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


@task(name="workspace.push_weights_again", minutes=5)
def push_weights_again() -> None:
    """Ask a worker again to push weights where a message or a worker was lost."""
    model_push.ask_for_weights(now=timezone.now())


@task(name=PUSHED, minutes=5)
def note_model_pushed(push: int, attempt: int, url: str, error: str) -> None:
    model_push.note_pushed(push_id=push, attempt=attempt, url=url, error=error, now=timezone.now())

import logging
from contextlib import suppress

from django.utils import timezone

from annotation.actions.answering import advance_session
from annotation.actions.arriving import network_places
from annotation.actions.paying.send_payments import projects_to_pay, send_project
from annotation.actions.recruiting import arrival_checks, prolific_studies, submissions, webhooks
from annotation.actions.removing import old_ids
from annotation.models import ProlificAccount, ProlificStudy
from annotation.recruitment.prolific.connection import ProlificError
from background.decorator import task
from studies.actions.events import TIMETABLE
from studies.errors import StudyError
from studies.models import Project

logger = logging.getLogger(__name__)

# A message that waits longer is dropped: another is sent by then.
READ_EVERY_SECONDS, FOLLOW_EVERY_SECONDS = 15, 60


@task(name="annotation.expire_sessions", minutes=5)
def expire_sessions() -> None:
    now = timezone.now()
    advance_session.expire(by=TIMETABLE, now=now)
    network_places.forget_networks(now=now)


@task(name="annotation.read_prolific_studies", minutes=5)
def read_prolific_studies() -> None:
    """Have workers read what is due; the database has the record, also of webhooks whose message was lost."""
    for study in submissions.due_studies(now=timezone.now()):
        read_prolific_study.send((study,), expires=READ_EVERY_SECONDS)


@task(name="annotation.follow_prolific", minutes=5)
def follow_prolific() -> None:
    """Have workers verify arrivals, and connect webhooks."""
    now = timezone.now()
    for session in arrival_checks.unverified_sessions(now=now):
        verify_arrival.send((session,), expires=FOLLOW_EVERY_SECONDS)
    for account in webhooks.accounts_to_connect(now=now):
        connect_webhooks.send((account,), expires=FOLLOW_EVERY_SECONDS)


@task(name="annotation.read_prolific_study", minutes=5)
def read_prolific_study(study: int) -> None:
    submissions.read_study(study=study, now=timezone.now())


@task(name="annotation.verify_arrival", minutes=5)
def verify_arrival(session: int) -> None:
    arrival_checks.ask_again(session=session, now=timezone.now())


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


@task(name="annotation.connect_webhooks", minutes=5)
def connect_webhooks(account: int) -> None:
    """It is tried again every minute until it works; the page says what is wrong."""
    found = ProlificAccount.objects.select_related("project").filter(pk=account).first()
    if found is None:
        return
    try:
        webhooks.subscribe_account(account=found, now=timezone.now())
    except ProlificError as error:
        logger.info("The webhooks of account %s are not connected: %s", account, error.sentence)
    else:
        webhooks.note_confirmed(account=found, by=TIMETABLE, now=timezone.now())


@task(name="annotation.forget_webhooks", minutes=5)
def forget_webhooks() -> None:
    webhooks.forget_old(now=timezone.now())


@task(name="annotation.delete_old_ids", minutes=30)
def delete_old_ids() -> None:
    old_ids.check_keys()
    old_ids.delete_old_ids(by=TIMETABLE, now=timezone.now())


@task(name="annotation.update_prolific_people", minutes=5)
def update_prolific_people() -> None:
    """Update the participant groups of running studies on Prolific."""
    running = ProlificStudy.objects.filter(status__in=prolific_studies.RUNNING)
    for one in running.select_related("study__project").order_by("pk"):
        # The next time does better; the page of the study says what is wrong when its state is read.
        with suppress(StudyError, ProlificError):
            prolific_studies.update_people(prolific_study=one)

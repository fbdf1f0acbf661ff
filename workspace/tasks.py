"""Work in the background. A task calls actions, and mails what they noted; run twice, it does what it does once."""

from django.utils import timezone

from annotation.actions.launching.complete_study import note_completed
from background.decorator import task
from studies.actions.events import TIMETABLE
from workspace import mail
from workspace.actions import accepted_news, alarms, browser_sessions, deliveries, uploaded_images


@task(name="workspace.deliver", minutes=5)
def deliver() -> None:
    """Sent by the clock, and by whoever waits for a message on a page."""
    deliveries.deliver(now=timezone.now)


@task(name="workspace.note_news", minutes=5)
def note_news() -> None:
    """What no single action knows that it brought about."""
    now = timezone.now()
    alarms.note_underpaid(by=TIMETABLE, now=now)
    accepted_news.note_accepted(now=now)
    deliveries.tidy(now=now)


@task(name="workspace.note_completed", minutes=5)
def note_completed_studies() -> None:
    """What is noted is told once: a mail that no server took is not sent again, the page says the same."""
    for completed in note_completed(by=TIMETABLE, now=timezone.now()):
        if completed.study.mails_when_complete:
            mail.send_completion(completed.study, is_closed=completed.is_closed)


@task(name="workspace.forget_sessions", minutes=10)
def forget_sessions() -> None:
    browser_sessions.forget_ended(now=timezone.now())


@task(name="workspace.discard_images", minutes=10)
def discard_images() -> None:
    uploaded_images.discard_unused(now=timezone.now())

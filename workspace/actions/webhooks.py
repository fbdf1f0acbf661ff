"""Webhooks of a project: create, delete, rotate keys, and queue messages.

A message is stored in the transaction of its event (docs/decisions/0045); `deliveries` sends it.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models.outcomes import accepted_decisions
from studies.actions.events import What, record
from studies.models import Event, Project, Study, StudyState
from workspace.models import TRIAL, Delivery, DeliveryState, ToldAcceptance, Topic, Webhook, WebhookKey, new_salt
from workspace.signatures import key_text
from workspace.webhook_http import AddressRefused, NotReached, check_url, look_up

MOST_WEBHOOKS = 10
# Hours that the previous key keeps signing beside a new one; 0: it leaked, and ends now.
OVERLAPS = (24, 168, 0)
BATCH = 5000

Data = Mapping[str, Any]


class WebhookRefused(Exception):
    """Nothing was changed; the message is a sentence for the user."""


def check_webhook_url(url: str) -> None:
    """Raise WebhookRefused for a URL that nothing may be sent to.

    Resolves the host, which may take seconds: call it outside of transactions. It is resolved again for each delivery.
    """
    try:
        parts = check_url(url)
        look_up(parts.hostname or "", parts.port or 443)
    except (AddressRefused, NotReached) as error:
        raise WebhookRefused(str(error)) from error


@transaction.atomic
def make_webhook(
    *, project: Project, url: str, topics: Iterable[str], by: User, now: datetime, salt: str | None = None
) -> tuple[WebhookKey, str]:
    """Create a webhook for `topics`; return its key and the text of it. Raises WebhookRefused.

    Instances accepted before are not reported. salt: of its key, random by default; a key of the project with this one
    is returned instead of a new one, and after its webhook was deleted it is refused: an old form would bring it back.
    """
    wanted = sorted(set(topics))
    if not wanted or not set(wanted) <= set(Topic.values):
        raise WebhookRefused("Choose at least one event to send.")
    try:
        check_url(url)
    except AddressRefused as error:
        raise WebhookRefused(str(error)) from error
    # Lock, so that two requests do not pass the limit together.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if before := WebhookKey.objects.filter(webhook__project=project, salt=salt).first():
        return before, key_text(before.salt)
    form = _form_of(salt) if salt else ""
    made = Event.objects.filter(project=project, what=What.WEBHOOK_MADE)
    if form and made.filter(details__form=form).exists():
        raise WebhookRefused(
            "This form has already created a webhook, which was deleted or got another key. To create another one, "
            "open the page of webhooks again."
        )
    others = Webhook.objects.filter(project=project)
    if others.filter(url=url).exists():
        raise WebhookRefused("This URL already has a webhook. Delete that one first to choose other events.")
    if others.count() >= MOST_WEBHOOKS:
        raise WebhookRefused(f"The project already has {MOST_WEBHOOKS} webhooks. Delete one that is no longer used.")
    webhook = Webhook.objects.create(project=project, url=url, topics=wanted, made_by=by, made_at=now)
    if Topic.INSTANCES_ACCEPTED in wanted:
        _mark_accepted_as_reported(webhook)
    key = WebhookKey.objects.create(webhook=webhook, made_at=now, salt=salt or new_salt())
    _record(webhook, What.WEBHOOK_MADE, by=by, now=now, topics=", ".join(wanted), **({"form": form} if form else {}))
    return key, key_text(key.salt)


def _form_of(salt: str) -> str:
    """Return what tells the form of a key from others, and not its key."""
    return sha256(salt.encode()).hexdigest()


def _mark_accepted_as_reported(webhook: Webhook) -> None:
    for study in accepting_studies(webhook.project):
        ids = accepted_decisions(study).values_list("question__instance_id", flat=True).distinct()
        told = (ToldAcceptance(webhook=webhook, study=study, instance_id=pk) for pk in ids.iterator(chunk_size=BATCH))
        ToldAcceptance.objects.bulk_create(told, batch_size=BATCH)


def accepting_studies(project: Project) -> list[Study]:
    """Return the launched studies of a project that accept instances."""
    launched = project.studies.exclude(state=StudyState.DRAFT).order_by("pk")
    return [study for study in launched if study.accepts]


@transaction.atomic
def change_key(
    *, webhook: Webhook, hours: int, by: User, now: datetime, salt: str | None = None, newest: int | None = None
) -> tuple[WebhookKey, str]:
    """Give a webhook a new key; return it and its text. The previous key also signs for `hours`, of `OVERLAPS`.

    Older keys are deleted: at most two are valid at once. salt: as in `make_webhook`; newest: the id of the key
    that its form showed as the newest, without which an old form would bring back a deleted key. Raises WebhookRefused.
    """
    if hours not in OVERLAPS:
        raise WebhookRefused("Choose how long the previous key stays valid.")
    locked = Webhook.objects.select_for_update().get(pk=webhook.pk)
    if again := WebhookKey.objects.filter(webhook=locked, salt=salt).first():
        return again, key_text(again.salt)
    if newest is not None and not WebhookKey.objects.filter(webhook=locked, expires_at=None, pk=newest).exists():
        raise WebhookRefused("The key was changed since you opened this page. Reload it, and change the key again.")
    WebhookKey.objects.filter(webhook=locked).exclude(expires_at=None).delete()
    before = WebhookKey.objects.filter(webhook=locked)
    if hours:
        before.update(expires_at=now + timedelta(hours=hours))
    else:
        before.delete()
    key = WebhookKey.objects.create(webhook=locked, made_at=now, salt=salt or new_salt())
    _record(webhook, What.WEBHOOK_KEY_CHANGED, by=by, now=now)
    return key, key_text(key.salt)


@transaction.atomic
def delete_webhook(*, webhook: Webhook, by: User, now: datetime) -> None:
    """Delete a webhook with its messages."""
    _record(webhook, What.WEBHOOK_DELETED, by=by, now=now)
    webhook.delete()


@transaction.atomic
def switch_on(*, webhook: Webhook, by: User, now: datetime) -> None:
    """Switch a webhook on again; its waiting messages are due again. Raises WebhookRefused if it is on."""
    if not Webhook.objects.filter(pk=webhook.pk).exclude(off_at=None).update(off_at=None, off_because=""):
        raise WebhookRefused("This webhook is already on.")
    _record(webhook, What.WEBHOOK_SWITCHED_ON, by=by, now=now)


@transaction.atomic
def send_test(*, webhook: Webhook, by: User, now: datetime) -> Delivery:
    """Queue a test message. Raises WebhookRefused."""
    if webhook.off_at is not None:
        raise WebhookRefused("This webhook is switched off. Switch it on first.")
    _record(webhook, What.WEBHOOK_TRIED, by=by, now=now)
    return queue_message(webhook=webhook, topic=TRIAL, data={"project": webhook.project.slug}, now=now)


@transaction.atomic
def send_again(*, delivery: Delivery, by: User, now: datetime) -> None:
    """Send a message again with the same id, whatever its state. Raises WebhookRefused."""
    if delivery.webhook.off_at is not None:
        raise WebhookRefused("This webhook is switched off. Switch it on first.")
    over = Delivery.objects.filter(pk=delivery.pk).exclude(state=DeliveryState.WAITING)
    if not over.update(state=DeliveryState.WAITING, attempts=0, due_at=now):
        raise WebhookRefused("This message still waits to be sent.")
    _record(delivery.webhook, What.DELIVERY_REPEATED, by=by, now=now, topic=delivery.topic)


def _record(webhook: Webhook, what: What, *, by: User | str, now: datetime, **details: Any) -> None:
    # The URL may be a secret, as those of chat rooms are.
    record(project=webhook.project, what=what, by=by, now=now, host=host_of(webhook), **details)


def host_of(webhook: Webhook) -> str:
    """Return the host of a webhook: shows where messages go without revealing the URL."""
    return urlsplit(webhook.url).hostname or ""


def queue_message(*, webhook: Webhook, topic: str, data: Data, now: datetime) -> Delivery:
    """Queue a message for a webhook."""
    at = now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = json.dumps({"type": topic, "timestamp": at, "data": data}, ensure_ascii=False)
    return Delivery.objects.create(webhook=webhook, topic=topic, body=body, made_at=now, due_at=now)


def _release_data(event: Event) -> Data:
    names = ("release", "sha256", "instances", "responses")
    return {name: event.details[name] for name in names}


def _no_data(event: Event) -> Data:
    return {}


def _alarm_data(*names: str) -> Callable[[Event], Data]:
    """Return what an alarm event sends: which alarm, and these of its details."""
    return lambda event: {"alarm": event.what, **{name: event.details[name] for name in names}}


# Kind of event -> topic, and data beside place and time. Nothing about people.
TOLD: Mapping[str, tuple[Topic, Callable[[Event], Data]]] = {
    What.STUDY_COMPLETED: (Topic.STUDY_COMPLETED, _no_data),
    What.RELEASE_FROZEN: (Topic.RELEASE_MADE, _release_data),
    What.STUDY_UNDERPAID: (Topic.ALARM_RAISED, _alarm_data("currency", "median", "least")),
    What.POLICY_PAUSED: (Topic.ALARM_RAISED, _alarm_data("policy", "finding")),
    What.WEBHOOK_SWITCHED_OFF: (Topic.ALARM_RAISED, _alarm_data("host")),
}


def queue_event(*, event: Event) -> None:
    """Queue messages about an event for the webhooks of its project, in the transaction that stores it."""
    if event.what not in TOLD:
        return
    topic, more = TOLD[event.what]
    for webhook in Webhook.objects.filter(project=event.project_id, off_at=None):
        if topic in webhook.topics:
            where = {"project": event.project.slug, "study": event.study_name or None, "event": event.pk}
            queue_message(webhook=webhook, topic=topic, data={**where, **more(event)}, now=event.at)

"""Webhooks of a project: made and deleted, their keys changed, and what they are to be told.

What they are told is written down in the transaction of what happened (docs/decisions/0045); `deliveries` sends it.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models.outcomes import accepted_decisions
from studies.actions.events import What, record
from studies.models import Event, Project, Study, StudyState
from workspace.models import TRIAL, Delivery, DeliveryState, ToldAcceptance, Topic, Webhook, WebhookKey
from workspace.signatures import key_text
from workspace.webhook_http import AddressRefused, NotReached, check_url, look_up

MOST_WEBHOOKS = 10
# How long the key before goes on signing beside a new one, in hours; 0: it was seen, and ends now.
OVERLAPS = (24, 168, 0)
BATCH = 5000

Data = Mapping[str, Any]


class WebhookRefused(Exception):
    """Nothing was changed; the message is a sentence for whoever asked."""


def check_address(url: str) -> None:
    """Raise WebhookRefused for an address that nothing is sent to.

    It is looked up where it leads to, which may take seconds: to be called outside of transactions. Whenever something
    is sent, it is looked up anew.
    """
    try:
        parts = check_url(url)
        look_up(parts.hostname or "", parts.port or 443)
    except (AddressRefused, NotReached) as error:
        raise WebhookRefused(str(error)) from error


@transaction.atomic
def make_webhook(*, project: Project, url: str, topics: Iterable[str], by: User, now: datetime) -> tuple[Webhook, str]:
    """Have an address told of `topics` from now on; return the webhook, and the text of its key. Raises WebhookRefused.

    What was accepted before is not told.
    """
    wanted = sorted(set(topics))
    if not wanted or not set(wanted) <= set(Topic.values):
        raise WebhookRefused("Choose what the address is told of.")
    try:
        check_url(url)
    except AddressRefused as error:
        raise WebhookRefused(str(error)) from error
    # One at a time, so that no two count the others at once.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    others = Webhook.objects.filter(project=project)
    if others.filter(url=url).exists():
        raise WebhookRefused("This address is told already. Delete its webhook first to tell it of something else.")
    if others.count() >= MOST_WEBHOOKS:
        raise WebhookRefused(f"The project has {MOST_WEBHOOKS} webhooks already. Delete one that nobody reads.")
    webhook = Webhook.objects.create(project=project, url=url, topics=wanted, made_by=by, made_at=now)
    if Topic.INSTANCES_ACCEPTED in wanted:
        _pass_over_what_is_accepted(webhook)
    key = WebhookKey.objects.create(webhook=webhook, made_at=now)
    _record(webhook, What.WEBHOOK_MADE, by=by, now=now, topics=", ".join(wanted))
    return webhook, key_text(key.salt)


def _pass_over_what_is_accepted(webhook: Webhook) -> None:
    for study in accepting_studies(webhook.project):
        ids = accepted_decisions(study).values_list("question__instance_id", flat=True).distinct()
        told = (ToldAcceptance(webhook=webhook, study=study, instance_id=pk) for pk in ids.iterator(chunk_size=BATCH))
        ToldAcceptance.objects.bulk_create(told, batch_size=BATCH)


def accepting_studies(project: Project) -> list[Study]:
    """Return the launched studies of a project that accept instances."""
    launched = project.studies.exclude(state=StudyState.DRAFT).order_by("pk")
    return [study for study in launched if study.accepts]


@transaction.atomic
def change_key(*, webhook: Webhook, hours: int, by: User, now: datetime) -> str:
    """Give a webhook a new key and return its text; the one before signs too for so many hours, of `OVERLAPS`.

    Of keys before that one nothing is left: two at most are good at once. Raises WebhookRefused.
    """
    if hours not in OVERLAPS:
        raise WebhookRefused("Choose for how long the key before goes on signing.")
    locked = Webhook.objects.select_for_update().get(pk=webhook.pk)
    WebhookKey.objects.filter(webhook=locked).exclude(expires_at=None).delete()
    before = WebhookKey.objects.filter(webhook=locked)
    if hours:
        before.update(expires_at=now + timedelta(hours=hours))
    else:
        before.delete()
    key = WebhookKey.objects.create(webhook=locked, made_at=now)
    _record(webhook, What.WEBHOOK_KEY_CHANGED, by=by, now=now)
    return key_text(key.salt)


@transaction.atomic
def delete_webhook(*, webhook: Webhook, by: User, now: datetime) -> None:
    """Tell an address nothing more, and forget what it was told."""
    _record(webhook, What.WEBHOOK_DELETED, by=by, now=now)
    webhook.delete()


@transaction.atomic
def switch_on(*, webhook: Webhook, by: User, now: datetime) -> None:
    """Go on with a webhook that was switched off, and with what still waits for it. Raises WebhookRefused."""
    if not Webhook.objects.filter(pk=webhook.pk).exclude(off_at=None).update(off_at=None, off_because=""):
        raise WebhookRefused("This webhook is on already.")
    _record(webhook, What.WEBHOOK_SWITCHED_ON, by=by, now=now)


@transaction.atomic
def try_webhook(*, webhook: Webhook, by: User, now: datetime) -> Delivery:
    """Write down a message that says nothing, to see whether the address takes it. Raises WebhookRefused."""
    if webhook.off_at is not None:
        raise WebhookRefused("This webhook is switched off. Switch it on first.")
    _record(webhook, What.WEBHOOK_TRIED, by=by, now=now)
    return tell(webhook=webhook, topic=TRIAL, data={"project": webhook.project.slug}, now=now)


@transaction.atomic
def repeat(*, delivery: Delivery, by: User, now: datetime) -> None:
    """Send a message again, under the name it had, whatever came of it before. Raises WebhookRefused."""
    if delivery.webhook.off_at is not None:
        raise WebhookRefused("This webhook is switched off. Switch it on first.")
    over = Delivery.objects.filter(pk=delivery.pk).exclude(state=DeliveryState.WAITING)
    if not over.update(state=DeliveryState.WAITING, attempts=0, due_at=now):
        raise WebhookRefused("This message still waits to be sent.")
    _record(delivery.webhook, What.DELIVERY_REPEATED, by=by, now=now, topic=delivery.topic)


def _record(webhook: Webhook, what: What, *, by: User | str, now: datetime, **details: Any) -> None:
    # The address itself may be a secret, as those of chat rooms are.
    record(project=webhook.project, what=what, by=by, now=now, host=host_of(webhook), **details)


def host_of(webhook: Webhook) -> str:
    """Return the machine that a webhook leads to, which says where news go without giving the address away."""
    return urlsplit(webhook.url).hostname or ""


def tell(*, webhook: Webhook, topic: str, data: Data, now: datetime) -> Delivery:
    """Write down a message for a webhook, to be sent as soon as somebody comes to it."""
    at = now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = json.dumps({"type": topic, "timestamp": at, "data": data}, ensure_ascii=False)
    return Delivery.objects.create(webhook=webhook, topic=topic, body=body, made_at=now, due_at=now)


def _of_release(event: Event) -> Data:
    names = ("release", "sha256", "instances", "responses")
    return {name: event.details[name] for name in names}


def _nothing_more(event: Event) -> Data:
    return {}


def _alarm(*names: str) -> Callable[[Event], Data]:
    """Return what an alarm says: which it is, and of its event's details those with these names."""
    return lambda event: {"alarm": event.what, **{name: event.details[name] for name in names}}


# The sort of event -> what it is told under, and what is told of it besides where and when it was. Nothing of a person.
TOLD: Mapping[str, tuple[Topic, Callable[[Event], Data]]] = {
    What.STUDY_COMPLETED: (Topic.STUDY_COMPLETED, _nothing_more),
    What.RELEASE_FROZEN: (Topic.RELEASE_MADE, _of_release),
    What.STUDY_UNDERPAID: (Topic.ALARM_RAISED, _alarm("currency", "median", "least")),
    What.WEBHOOK_SWITCHED_OFF: (Topic.ALARM_RAISED, _alarm("host")),
}


def note(*, event: Event) -> None:
    """Write down what the webhooks of its project are told of an event; called in the transaction that stores it."""
    if event.what not in TOLD:
        return
    topic, more = TOLD[event.what]
    for webhook in Webhook.objects.filter(project=event.project_id, off_at=None):
        if topic in webhook.topics:
            where = {"project": event.project.slug, "study": event.study_name or None, "event": event.pk}
            tell(webhook=webhook, topic=topic, data={**where, **more(event)}, now=event.at)

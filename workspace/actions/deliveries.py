"""Sends what webhooks are to be told, and tries again what was not taken.

A message is sent by whoever moved its `due_at`: two workers never send one at once, and what a lost worker had begun is
due again after `LEASE`. A receiver may get a message twice, always under the same name.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Q

from studies.actions.events import TIMETABLE, What, record
from workspace.actions.webhooks import host_of
from workspace.models import TRIAL, Delivery, DeliveryState, Webhook, WebhookKey
from workspace.signatures import headers, key_of
from workspace.webhook_http import AddressRefused, Answer, NotReached, post

# How long a message waits after each failure; after the last one, some 32 hours later, it has failed.
BACKOFF = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
)
MOST_ATTEMPTS = len(BACKOFF) + 1
# Longer than an attempt can take.
LEASE = timedelta(minutes=2)
# After this long a turn begins no other attempt: the next turn is sent by the clock.
TURN = timedelta(seconds=45)
KEPT_FOR = timedelta(days=30)
GONE = 410

Clock = Callable[[], datetime]


def deliver(*, now: Clock) -> int:
    """Send what is due; return how many messages were tried.

    A webhook that fails has had its turn, so that one that hangs keeps nobody else's news for long.
    """
    until, failed, tried = now() + TURN, set[int](), 0
    while now() < until and (delivery := _take(failed, now())) is not None:
        tried += 1
        if not _attempt(delivery, now):
            failed.add(delivery.webhook_id)
    return tried


def _take(failed: set[int], now: datetime) -> Delivery | None:
    """Return the message that waits longest, which nobody else will try for a while; None where none is due."""
    waiting = Delivery.objects.filter(state=DeliveryState.WAITING, due_at__lte=now, webhook__off_at=None)
    while (found := waiting.exclude(webhook__in=failed).order_by("due_at", "pk").first()) is not None:
        same = Delivery.objects.filter(pk=found.pk, state=DeliveryState.WAITING, due_at=found.due_at)
        if same.update(due_at=now + LEASE, attempts=F("attempts") + 1, tried_at=now):
            return Delivery.objects.select_related("webhook__project").get(pk=found.pk)
    return None


def _attempt(delivery: Delivery, now: Clock) -> bool:
    """Send a message once and note what came of it; tell whether it was taken."""
    webhook, name, body = delivery.webhook, str(delivery.name), delivery.body.encode()
    keys = WebhookKey.objects.filter(Q(expires_at=None) | Q(expires_at__gt=now()), webhook=webhook)
    signed = headers([key_of(salt) for salt in keys.values_list("salt", flat=True)], name=name, at=now(), body=body)
    told = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "Lineup-Webhooks/1", **signed}
    answer, problem = None, ""
    try:
        answer = post(webhook.url, body, told)
    except (AddressRefused, NotReached) as error:
        problem = str(error)
    if answer is not None and not 200 <= answer.status < 300:
        problem = f"The answer was {answer.status}, and only 200 to 299 means that the message was taken."
    _keep(delivery, answer, problem, now())
    return not problem


@transaction.atomic
def _keep(delivery: Delivery, answer: Answer | None, problem: str, now: datetime) -> None:
    """Note what came of an attempt, unless it took so long that another one has begun."""
    news = {
        "status": answer.status if answer else None,
        "answer": answer.beginning if answer else "",
        "problem": problem,
    }
    this = Delivery.objects.filter(pk=delivery.pk, attempts=delivery.attempts, state=DeliveryState.WAITING)
    if not problem:
        if this.update(state=DeliveryState.TAKEN, **news):
            Webhook.objects.filter(pk=delivery.webhook_id).update(answered_at=now)
        return
    if answer is not None and answer.status == GONE:
        if this.update(state=DeliveryState.FAILED, **news):
            _switch_off(delivery, f"{host_of(delivery.webhook)} answered 410: it wants no more messages.", now)
        return
    if delivery.topic == TRIAL or delivery.attempts >= MOST_ATTEMPTS:
        if this.update(state=DeliveryState.FAILED, **news) and delivery.topic != TRIAL:
            _switch_off_if_silent(delivery, problem, now)
        return
    this.update(due_at=now + BACKOFF[delivery.attempts - 1], **news)


def _switch_off_if_silent(delivery: Delivery, problem: str, now: datetime) -> None:
    """Switch a webhook off that has taken nothing since a message was made that has failed for good."""
    answered = Webhook.objects.get(pk=delivery.webhook_id).answered_at
    if answered is None or answered < delivery.made_at:
        since = f"{delivery.made_at:%-d %B %Y, %H:%M} UTC"
        sentence = f"It has taken no message since {since}, in {MOST_ATTEMPTS} attempts at one alone. {problem}"
        _switch_off(delivery, sentence, now)


def _switch_off(delivery: Delivery, why: str, now: datetime) -> None:
    webhook = delivery.webhook
    if Webhook.objects.filter(pk=webhook.pk, off_at=None).update(off_at=now, off_because=why):
        what = What.WEBHOOK_SWITCHED_OFF
        record(project=webhook.project, what=what, by=TIMETABLE, now=now, host=host_of(webhook))


def tidy(*, now: datetime) -> int:
    """Delete what was told, or could not be told, long ago; return how many messages."""
    over = Delivery.objects.exclude(state=DeliveryState.WAITING).filter(made_at__lt=now - KEPT_FOR)
    return over.delete()[0]

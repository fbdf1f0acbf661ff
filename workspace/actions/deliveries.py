"""Send queued webhook messages, and retry failed ones.

A worker owns the message whose `due_at` it moved, so two workers never send the same message at once. After `LEASE`, a
message of a lost worker is due again. A receiver may get a message twice, always with the same id.
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

# Wait after each failure; after the last one, about 32 hours later, the message has failed.
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
# After this long a run starts no further attempt; the next periodic run continues.
TURN = timedelta(seconds=45)
KEPT_FOR = timedelta(days=30)
GONE = 410

Clock = Callable[[], datetime]


def deliver(*, now: Clock) -> int:
    """Send what is due; return the number of messages tried.

    Each webhook may fail once per run, so a receiver that hangs does not hold up the others.
    """
    until, failed, tried = now() + TURN, set[int](), 0
    while now() < until and (delivery := _claim(failed, now())) is not None:
        tried += 1
        if not _attempt(delivery, now):
            failed.add(delivery.webhook_id)
    return tried


def _claim(failed: set[int], now: datetime) -> Delivery | None:
    """Claim the message that has waited longest, for `LEASE`; None if nothing is due."""
    waiting = Delivery.objects.filter(state=DeliveryState.WAITING, due_at__lte=now, webhook__off_at=None)
    while (found := waiting.exclude(webhook__in=failed).order_by("due_at", "pk").first()) is not None:
        same = Delivery.objects.filter(pk=found.pk, state=DeliveryState.WAITING, due_at=found.due_at)
        if same.update(due_at=now + LEASE, attempts=F("attempts") + 1, tried_at=now):
            return Delivery.objects.select_related("webhook__project").get(pk=found.pk)
    return None


def _attempt(delivery: Delivery, now: Clock) -> bool:
    """Try to send a message and record the result; return whether the receiver accepted it."""
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
        problem = f"The receiver answered {answer.status}. It must answer 200 to 299."
    _record_result(delivery, answer, problem, now())
    return not problem


@transaction.atomic
def _record_result(delivery: Delivery, answer: Answer | None, problem: str, now: datetime) -> None:
    """Record the result of an attempt, unless another attempt has begun in the meantime."""
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
            _switch_off(delivery, f"{host_of(delivery.webhook)} answered 410 (gone), so it gets no more messages.", now)
        return
    if delivery.topic == TRIAL or delivery.attempts >= MOST_ATTEMPTS:
        if this.update(state=DeliveryState.FAILED, **news) and delivery.topic != TRIAL:
            _switch_off_if_silent(delivery, problem, now)
        return
    this.update(due_at=now + BACKOFF[delivery.attempts - 1], **news)


def _switch_off_if_silent(delivery: Delivery, problem: str, now: datetime) -> None:
    """Switch off a webhook that has accepted nothing since its failed message was created."""
    answered = Webhook.objects.get(pk=delivery.webhook_id).answered_at
    if answered is None or answered < delivery.made_at:
        since = f"{delivery.made_at:%-d %B %Y, %H:%M} UTC"
        sentence = (
            f"It has accepted no message since {since}; one message alone failed {MOST_ATTEMPTS} times. {problem}"
        )
        _switch_off(delivery, sentence, now)


def _switch_off(delivery: Delivery, why: str, now: datetime) -> None:
    webhook = delivery.webhook
    if Webhook.objects.filter(pk=webhook.pk, off_at=None).update(off_at=now, off_because=why):
        what = What.WEBHOOK_SWITCHED_OFF
        record(project=webhook.project, what=what, by=TIMETABLE, now=now, host=host_of(webhook))


def delete_old(*, now: datetime) -> int:
    """Delete old messages, delivered or failed; return how many."""
    over = Delivery.objects.exclude(state=DeliveryState.WAITING).filter(made_at__lt=now - KEPT_FOR)
    return over.delete()[0]

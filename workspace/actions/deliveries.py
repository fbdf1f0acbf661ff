"""Sends what webhooks are to be told, and tries again what was not taken.

A message is sent by whoever moved its `due_at`: two workers never send one at once, and what a lost worker had begun is
due again after `LEASE`. A receiver may get a message twice, always under the same name.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotation.models import Decision
from annotation.models.outcomes import accepted_decisions
from studies.actions.events import TIMETABLE, What, record
from studies.models import Study
from workspace.actions.webhooks import accepting_studies, host_of, tell
from workspace.models import TRIAL, Delivery, DeliveryState, ToldAcceptance, Topic, Webhook, WebhookKey
from workspace.outgoing import AddressRefused, Answer, NotReached, post
from workspace.signatures import headers, key_of

# How long a message waits after each failure; after the last one, a day and a half later, it has failed.
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
# How many instances one message names.
MOST_INSTANCES = 500
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


def note_accepted(*, now: datetime) -> int:
    """Write down for webhooks which instances were accepted since they were told last; return how many messages.

    The decisions in the database say it, and not their moments: what a worker or a message lost is told the next time.
    """
    written = 0
    on = Webhook.objects.filter(off_at=None, project__archived_at=None).select_related("project")
    for webhook in on:
        if Topic.INSTANCES_ACCEPTED in webhook.topics:
            for study in accepting_studies(webhook.project):
                # Looked at first without keeping others from writing, as SQLite's transactions do.
                while _untold(webhook, study).exists() and _note_some(webhook.pk, study.pk, now):
                    written += 1
    return written


def _untold(webhook: Webhook, study: Study) -> QuerySet[Decision]:
    """Return the decisions about instances that `study` accepted and `webhook` was not told of. In no order."""
    told = ToldAcceptance.objects.filter(webhook=webhook, study=study, instance=OuterRef("question__instance"))
    return accepted_decisions(study).exclude(Exists(told))


@transaction.atomic
def _note_some(webhook_id: int, study_id: int, now: datetime) -> bool:
    """Write down one message about instances that were accepted; tell whether there was anything to tell."""
    # Of two that look at once the second sees what the first wrote.
    webhook = Webhook.objects.select_for_update(of=("self",)).select_related("project").filter(pk=webhook_id).first()
    if webhook is None:
        return False
    study = webhook.project.studies.get(pk=study_id)
    untold = _untold(webhook, study).order_by("question__instance")
    rows = list(untold.values_list("question__instance", "question__instance__key").distinct()[:MOST_INSTANCES])
    if not rows:
        return False
    ToldAcceptance.objects.bulk_create(ToldAcceptance(webhook=webhook, study=study, instance_id=pk) for pk, _ in rows)
    instances = [{"id": pk, "key": key} for pk, key in rows]
    data = {"project": webhook.project.slug, "study": study.slug, "instances": instances}
    tell(webhook=webhook, topic=Topic.INSTANCES_ACCEPTED, data=data, now=now)
    return True


def tidy(*, now: datetime) -> int:
    """Delete what was told, or could not be told, long ago; return how many messages."""
    over = Delivery.objects.exclude(state=DeliveryState.WAITING).filter(made_at__lt=now - KEPT_FOR)
    return over.delete()[0]

"""What webhooks are told, from the moment it happened to the moment it was taken or given up."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

import pytest
from django.db import transaction
from pytest_django import Settings

from annotation.models import Decision
from results.actions.releases import freeze_release, prepare_release
from results.exporting.dossier import About
from studies.actions.events import record
from studies.models import Event, Project, Study
from tests.factories import (
    NOON,
    answer,
    make_instance,
    make_launched,
    make_person,
    make_project,
    make_study,
    questions,
    sit_down,
)
from tests.receivers import Receiver, answer_with, receiving
from workspace.actions import deliveries, webhooks
from workspace.actions.deliveries import BACKOFF, deliver, note_accepted, tidy
from workspace.actions.webhooks import WebhookRefused, make_webhook, tell
from workspace.models import Delivery, Topic, Webhook, WebhookKey
from workspace.outgoing import Answer, NotReached
from workspace.signatures import key_of

pytestmark = pytest.mark.django_db
URL = "https://receiver.example/news"


def hook(project: Project | None = None, *, url: str = URL, topics: list[str] | None = None) -> Webhook:
    wanted = Topic.values if topics is None else topics
    by = make_person(f"owner-{Webhook.objects.count()}")
    return make_webhook(project=project or make_project(), url=url, topics=wanted, by=by, now=NOON)[0]


def news(webhook: Webhook) -> list[dict[str, Any]]:
    found = Delivery.objects.filter(webhook=webhook).order_by("made_at", "body")
    return [json.loads(body) for body in found.values_list("body", flat=True)]


def asked_about(instances: int) -> Study:
    """Return an open study of so many instances, each asked about once."""
    project = make_project()
    for number in range(instances):
        make_instance(project, f"vase-{number}", source_row=number + 1)
    return make_launched(make_study(project))


class Replies:
    """Answers messages in turn, the last answer for ever, without a network; keeps what was sent."""

    def __init__(self, *replies: int | str) -> None:
        self.replies, self.sent = list(replies), list[tuple[str, bytes, dict[str, str]]]()

    def __call__(self, url: str, body: bytes, headers: dict[str, str]) -> Answer:
        self.sent.append((url, body, headers))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, str):
            raise NotReached(reply)
        return Answer(reply, "ok" if reply < 300 else "no")


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Replies]:
    def reply(*of: int | str) -> Replies:
        made = Replies(*of)
        monkeypatch.setattr(deliveries, "post", made)
        return made

    return reply


def deliver_at(now: datetime) -> int:
    return deliver(now=lambda: now)


def test_a_frozen_release_is_told_with_its_digest_and_of_whom_nothing() -> None:
    study = asked_about(1)
    answer(sit_down(study, "pid-of-ann"), questions(study)[0], "candidate-0")
    webhook = hook(study.project)
    release, _ = prepare_release(study=study, about=About(release="v1"), by=make_person("ben"), now=NOON)
    assert news(webhook) == []
    freeze_release(release=release, now=NOON)
    event = Event.objects.get(what="release frozen")
    data = {"project": "vases", "study": "birds-step-3", "event": event.pk, "release": "v1"}
    data |= {"sha256": release.sha256, "instances": release.instances, "responses": 1}
    assert news(webhook) == [{"type": "release.made", "timestamp": "2026-11-20T12:00:00.000Z", "data": data}]


def underpaid() -> Event:
    """Return an event that no webhook has been told of."""
    event = Event.objects.filter(project__slug="vases")[0]
    event.what, event.details = "study underpaid", {"currency": "USD", "median": "7.00", "least": "8.00"}
    return event


def test_a_complete_study_is_told() -> None:
    study = asked_about(1)
    webhook = hook(study.project, topics=["study.completed"])
    with transaction.atomic():
        event = record(project=study.project, study=study, what="study completed", by="timetable", now=NOON)
    (told,) = news(webhook)
    assert (told["type"], told["data"]) == (
        "study.completed",
        {"project": "vases", "study": "birds-step-3", "event": event.pk},
    )


def test_what_is_undone_is_not_told() -> None:
    webhook = hook()

    def fail() -> None:
        with transaction.atomic():
            webhooks.note(event=underpaid())
            assert len(news(webhook)) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert news(webhook) == []


def test_other_projects_other_topics_and_webhooks_that_are_off_are_not_told() -> None:
    told = hook(topics=["alarm.raised"], url=f"{URL}/told")
    others = [hook(make_project("jugs")), hook(topics=["release.made"], url=f"{URL}/releases"), hook(url=f"{URL}/off")]
    Webhook.objects.filter(pk=others[-1].pk).update(off_at=NOON, off_because="Tests.")
    webhooks.note(event=underpaid())
    assert [each["data"]["alarm"] for each in news(told)] == ["study underpaid"]
    assert [news(other) for other in others] == [[], [], []]


def test_accepted_instances_are_told_once_in_messages_of_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "MOST_INSTANCES", 2)
    study = asked_about(4)
    webhook, session = hook(study.project), sit_down(study, "ann")
    for question in questions(study)[:3]:
        answer(session, question, "candidate-0")
    rejected = questions(study)[3]
    answer(session, rejected, "none")
    accepted = list(Decision.objects.filter(state="accepted").values_list("question__instance__key", flat=True))
    assert len(accepted) == 3
    assert note_accepted(now=NOON) == 2
    told = [[each["key"] for each in message["data"]["instances"]] for message in news(webhook)]
    assert sorted(map(len, told)) == [1, 2]
    assert sorted(chain.from_iterable(told)) == sorted(accepted)
    assert note_accepted(now=NOON + timedelta(minutes=5)) == 0


def test_what_was_accepted_before_a_webhook_was_made_is_not_told_to_it() -> None:
    study = asked_about(2)
    session, (first, second) = sit_down(study, "ann"), questions(study)
    answer(session, first, "candidate-0")
    webhook = hook(study.project)
    assert note_accepted(now=NOON) == 0
    answer(session, second, "candidate-0")
    assert note_accepted(now=NOON) == 1
    assert [each["key"] for each in news(webhook)[0]["data"]["instances"]] == ["vase-1"]


def test_a_message_is_sent_once_and_what_was_answered_is_kept(replies: Callable[..., Replies]) -> None:
    sent = replies(200).sent
    webhook = hook()
    message = tell(webhook=webhook, topic="release.made", data={"name": "é"}, now=NOON)
    assert deliver_at(NOON) == 1
    assert deliver_at(NOON + timedelta(days=1)) == 0
    ((url, body, headers),) = sent
    assert (url, body.decode()) == (URL, message.body)
    assert headers["webhook-id"] == str(message.name)
    message.refresh_from_db()
    assert (message.state, message.attempts, message.status, message.answer) == ("taken", 1, 200, "ok")
    webhook.refresh_from_db()
    assert webhook.answered_at == NOON


def test_a_message_that_is_not_taken_is_tried_again_later_and_later_under_its_name(
    replies: Callable[..., Replies],
) -> None:
    replied = replies(500, "It cannot be reached.", 302, 429, 503, 404, 400, 200)
    webhook = hook()
    message = tell(webhook=webhook, topic="release.made", data={}, now=NOON)
    now, waits = NOON, []
    for _ in range(8):
        assert deliver_at(now) == 1
        message.refresh_from_db()
        if message.state == "waiting":
            waits.append(message.due_at - now)
            assert deliver_at(message.due_at - timedelta(seconds=1)) == 0
            now = message.due_at
    # As the decision note has them.
    assert [wait.total_seconds() / 60 for wait in waits] == [1, 5, 30, 120, 300, 600, 840]
    assert (message.state, message.attempts, message.problem) == ("taken", 8, "")
    assert {headers["webhook-id"] for _, _, headers in replied.sent} == {str(message.name)}
    assert len({headers["webhook-timestamp"] for _, _, headers in replied.sent}) == 8


def fail_for_good(message: Delivery) -> datetime:
    """Try a message until it has failed; return when that was."""
    now = message.due_at
    for _ in range(len(BACKOFF) + 1):
        deliver_at(now)
        message.refresh_from_db()
        last, now = now, message.due_at
    assert message.state == "failed"
    return last


def test_a_webhook_that_takes_nothing_is_switched_off_with_a_sentence_and_others_hear_of_it(
    replies: Callable[..., Replies],
) -> None:
    replies("receiver.example takes no connections there.")
    webhook = hook()
    message = tell(webhook=webhook, topic="release.made", data={}, now=NOON)
    other = hook(url="https://other.example/")
    at = fail_for_good(message)
    webhook.refresh_from_db()
    assert webhook.off_at == at
    assert webhook.off_because == (
        "It has taken no message since 20 November 2026, 12:00 UTC, in 8 attempts at one alone. "
        "receiver.example takes no connections there."
    )
    event = Event.objects.get(what="webhook switched off")
    assert (event.by_name, event.details) == ("timetable", {"host": "receiver.example"})
    assert [(each["type"], each["data"]["host"]) for each in news(other)] == [("alarm.raised", "receiver.example")]


def test_a_webhook_that_takes_other_messages_stays_on(replies: Callable[..., Replies]) -> None:
    replies(500)
    webhook = hook()
    message = tell(webhook=webhook, topic="release.made", data={}, now=NOON)
    Webhook.objects.update(answered_at=NOON + timedelta(hours=1))
    fail_for_good(message)
    webhook.refresh_from_db()
    assert webhook.off_at is None


def test_a_receiver_that_says_that_it_is_gone_is_told_nothing_more(replies: Callable[..., Replies]) -> None:
    sent = replies(410).sent
    webhook = hook()
    for _ in range(2):
        tell(webhook=webhook, topic="release.made", data={}, now=NOON)
    deliver_at(NOON)
    webhook.refresh_from_db()
    assert webhook.off_because == "receiver.example answered 410: it wants no more messages."
    assert deliver_at(NOON + timedelta(days=1)) == 0
    assert len(sent) == 1
    # What waited goes on when it is on again.
    webhooks.switch_on(webhook=webhook, by=make_person("ben"), now=NOON)
    assert deliver_at(NOON + timedelta(days=1)) == 1


def test_trying_a_webhook_is_one_attempt_and_switches_nothing_off(replies: Callable[..., Replies]) -> None:
    replies(500)
    webhook = hook()
    message = webhooks.try_webhook(webhook=webhook, by=make_person("ben"), now=NOON)
    deliver_at(NOON)
    message.refresh_from_db()
    webhook.refresh_from_db()
    assert (message.state, webhook.off_at) == ("failed", None)


def test_of_a_webhook_that_fails_one_message_is_tried_in_a_turn_and_others_have_theirs(
    replies: Callable[..., Replies],
) -> None:
    sent = replies(500).sent
    first, second = hook(), hook(url="https://other.example/")
    for _ in range(3):
        tell(webhook=first, topic="release.made", data={}, now=NOON)
    tell(webhook=second, topic="release.made", data={}, now=NOON + timedelta(seconds=1))
    assert deliver_at(NOON + timedelta(seconds=2)) == 2
    assert [url for url, *_ in sent] == [URL, "https://other.example/"]


def test_what_a_lost_worker_had_begun_is_tried_again_and_its_late_word_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    webhook = hook()
    message = tell(webhook=webhook, topic="release.made", data={}, now=NOON)

    def hang(url: str, body: bytes, headers: dict[str, str]) -> Answer:
        # While this one hangs its lease ends, and another worker sends the message.
        monkeypatch.setattr(deliveries, "post", Replies(503))
        assert deliver_at(NOON + timedelta(minutes=1)) == 0
        assert deliver_at(NOON + timedelta(minutes=2)) == 1
        return Answer(500, "late")

    monkeypatch.setattr(deliveries, "post", hang)
    deliver_at(NOON)
    message.refresh_from_db()
    # The second worker's word, and its five minutes.
    assert (message.attempts, message.status) == (2, 503)
    assert message.due_at == NOON + timedelta(minutes=2 + 5)


def test_a_message_can_be_sent_again_under_its_name(replies: Callable[..., Replies]) -> None:
    sent = replies(200).sent
    message = tell(webhook=hook(), topic="release.made", data={}, now=NOON)
    ben = make_person("ben")
    with pytest.raises(WebhookRefused, match="still waits"):
        webhooks.repeat(delivery=message, by=ben, now=NOON)
    deliver_at(NOON)
    webhooks.repeat(delivery=message, by=ben, now=NOON + timedelta(hours=1))
    assert deliver_at(NOON + timedelta(hours=1)) == 1
    assert [headers["webhook-id"] for *_, headers in sent] == [str(message.name)] * 2


def signed_with(webhook: Webhook, sent: tuple[str, bytes, dict[str, str]]) -> list[str]:
    """Return with which of the webhook's keys a message is signed, in their order, as a receiver finds out."""
    _, body, headers = sent
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    salts = {}
    for salt in WebhookKey.objects.filter(webhook=webhook).values_list("salt", flat=True):
        salts[base64.b64encode(hmac.new(key_of(salt), content, hashlib.sha256).digest()).decode()] = salt
    return [salts[each.removeprefix("v1,")] for each in headers["webhook-signature"].split(" ")]


def test_while_a_key_takes_anothers_place_both_sign_and_never_a_third(replies: Callable[..., Replies]) -> None:
    sent, webhook, ben = replies(200).sent, hook(), make_person("ben")
    for _ in range(2):
        webhooks.change_key(webhook=webhook, hours=24, by=ben, now=NOON)
    for now in (NOON, NOON + timedelta(hours=24)):
        tell(webhook=webhook, topic="release.made", data={}, now=now)
        deliver_at(now)
    newest, before = WebhookKey.objects.filter(webhook=webhook).values_list("salt", flat=True)
    assert [signed_with(webhook, each) for each in sent] == [[newest, before], [newest]]
    webhooks.change_key(webhook=webhook, hours=0, by=ben, now=NOON)
    assert WebhookKey.objects.count() == 1


def test_a_key_is_not_in_the_database() -> None:
    _, text = make_webhook(project=make_project(), url=URL, topics=["release.made"], by=make_person("ben"), now=NOON)
    stored = str(list(WebhookKey.objects.values())) + str(list(Event.objects.values()))
    assert text.removeprefix("whsec_") not in stored
    assert URL not in stored


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"topics": []}, "Choose what"),
        ({"topics": ["webhook.tried"]}, "Choose what"),
        ({"url": "http://receiver.example/"}, "must begin with https"),
        ({"url": URL}, "is told already"),
    ],
)
def test_what_cannot_be_a_webhook_is_refused(told: dict[str, Any], reason: str) -> None:
    hook()
    fields = {"url": "https://other.example/", "topics": ["release.made"], **told}
    with pytest.raises(WebhookRefused, match=reason):
        make_webhook(project=make_project(), **fields, by=make_person("ben"), now=NOON)
    assert Webhook.objects.count() == 1


def test_what_was_told_long_ago_is_deleted_and_what_waits_is_not() -> None:
    webhook = hook()
    for state in ("taken", "failed", "waiting"):
        tell(webhook=webhook, topic="release.made", data={}, now=NOON)
        Delivery.objects.filter(state="waiting").update(state=state)
    assert tidy(now=NOON + timedelta(days=30)) == 0
    assert tidy(now=NOON + timedelta(days=30, seconds=1)) == 2


def test_a_message_really_arrives_with_its_signature(settings: Settings) -> None:
    settings.WEBHOOKS_TO_PRIVATE_ADDRESSES = True
    with receiving(answer_with(200, b"thanks")) as receiver:
        webhook = _to(receiver)
        message = tell(webhook=webhook, topic="release.made", data={"release": "v1"}, now=NOON)
        assert deliver_at(NOON) == 1
    (request,) = receiver.requests
    assert request.body.decode() == message.body
    assert request.headers["content-type"] == "application/json; charset=utf-8"
    assert len(signed_with(webhook, ("", request.body, request.headers))) == 1
    message.refresh_from_db()
    assert (message.state, message.answer) == ("taken", "thanks")


def _to(receiver: Receiver) -> Webhook:
    return hook(url=receiver.url)

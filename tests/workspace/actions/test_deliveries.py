"""What becomes of a message, from the moment it was written down to the moment it was taken or given up."""

import base64
import hashlib
import hmac
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from pytest_django import Settings

from studies.models import Event
from tests.factories import NOON, make_person
from tests.receivers import Receiver, answer_with, receiving
from tests.workspace.hooks import URL, hook, news
from workspace.actions import deliveries, webhooks
from workspace.actions.deliveries import BACKOFF, delete_old, deliver
from workspace.actions.webhooks import WebhookRefused, queue_message
from workspace.models import Delivery, Webhook, WebhookKey
from workspace.signatures import key_of
from workspace.webhook_http import Answer, NotReached

pytestmark = pytest.mark.django_db


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


def test_a_message_is_sent_once_and_what_was_answered_is_kept(replies: Callable[..., Replies]) -> None:
    sent = replies(200).sent
    webhook = hook()
    message = queue_message(webhook=webhook, topic="release.made", data={"name": "é"}, now=NOON)
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
    message = queue_message(webhook=webhook, topic="release.made", data={}, now=NOON)
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
    replies("receiver.example refused the connection.")
    webhook = hook()
    message = queue_message(webhook=webhook, topic="release.made", data={}, now=NOON)
    other = hook(url="https://other.example/")
    at = fail_for_good(message)
    webhook.refresh_from_db()
    assert webhook.off_at == at
    assert webhook.off_because == (
        "It has accepted no message since 20 November 2026, 12:00 UTC; one message alone failed 8 times. "
        "receiver.example refused the connection."
    )
    event = Event.objects.get(what="webhook switched off")
    assert (event.by_name, event.details) == ("timetable", {"host": "receiver.example"})
    assert [(each["type"], each["data"]["host"]) for each in news(other)] == [("alarm.raised", "receiver.example")]


def test_a_webhook_that_takes_other_messages_stays_on(replies: Callable[..., Replies]) -> None:
    replies(500)
    webhook = hook()
    message = queue_message(webhook=webhook, topic="release.made", data={}, now=NOON)
    Webhook.objects.update(answered_at=NOON + timedelta(hours=1))
    fail_for_good(message)
    webhook.refresh_from_db()
    assert webhook.off_at is None


def test_a_receiver_that_says_that_it_is_gone_is_told_nothing_more(replies: Callable[..., Replies]) -> None:
    sent = replies(410).sent
    webhook = hook()
    for _ in range(2):
        queue_message(webhook=webhook, topic="release.made", data={}, now=NOON)
    deliver_at(NOON)
    webhook.refresh_from_db()
    assert webhook.off_because == "receiver.example answered 410 (gone), so it gets no more messages."
    assert deliver_at(NOON + timedelta(days=1)) == 0
    assert len(sent) == 1
    # What waited goes on when it is on again.
    webhooks.switch_on(webhook=webhook, by=make_person("ben"), now=NOON)
    assert deliver_at(NOON + timedelta(days=1)) == 1


def test_trying_a_webhook_is_one_attempt_and_switches_nothing_off(replies: Callable[..., Replies]) -> None:
    replies(500)
    webhook = hook()
    message = webhooks.send_test(webhook=webhook, by=make_person("ben"), now=NOON)
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
        queue_message(webhook=first, topic="release.made", data={}, now=NOON)
    queue_message(webhook=second, topic="release.made", data={}, now=NOON + timedelta(seconds=1))
    assert deliver_at(NOON + timedelta(seconds=2)) == 2
    assert [url for url, *_ in sent] == [URL, "https://other.example/"]


def test_what_a_lost_worker_had_begun_is_tried_again_and_its_late_word_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    webhook = hook()
    message = queue_message(webhook=webhook, topic="release.made", data={}, now=NOON)

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
    message = queue_message(webhook=hook(), topic="release.made", data={}, now=NOON)
    ben = make_person("ben")
    with pytest.raises(WebhookRefused, match="still waits"):
        webhooks.send_again(delivery=message, by=ben, now=NOON)
    deliver_at(NOON)
    webhooks.send_again(delivery=message, by=ben, now=NOON + timedelta(hours=1))
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
        queue_message(webhook=webhook, topic="release.made", data={}, now=now)
        deliver_at(now)
    newest, before = WebhookKey.objects.filter(webhook=webhook).values_list("salt", flat=True)
    assert [signed_with(webhook, each) for each in sent] == [[newest, before], [newest]]
    webhooks.change_key(webhook=webhook, hours=0, by=ben, now=NOON)
    assert WebhookKey.objects.count() == 1


def test_what_was_told_long_ago_is_deleted_and_what_waits_is_not() -> None:
    webhook = hook()
    for state in ("taken", "failed", "waiting"):
        queue_message(webhook=webhook, topic="release.made", data={}, now=NOON)
        Delivery.objects.filter(state="waiting").update(state=state)
    assert delete_old(now=NOON + timedelta(days=30)) == 0
    assert delete_old(now=NOON + timedelta(days=30, seconds=1)) == 2


def test_a_message_really_arrives_with_its_signature(settings: Settings) -> None:
    settings.WEBHOOKS_TO_PRIVATE_ADDRESSES = True
    with receiving(answer_with(200, b"thanks")) as receiver:
        webhook = _to(receiver)
        message = queue_message(webhook=webhook, topic="release.made", data={"release": "v1"}, now=NOON)
        assert deliver_at(NOON) == 1
    (request,) = receiver.requests
    assert request.body.decode() == message.body
    assert request.headers["content-type"] == "application/json; charset=utf-8"
    assert len(signed_with(webhook, ("", request.body, request.headers))) == 1
    message.refresh_from_db()
    assert (message.state, message.answer) == ("taken", "thanks")


def _to(receiver: Receiver) -> Webhook:
    return hook(url=receiver.url)

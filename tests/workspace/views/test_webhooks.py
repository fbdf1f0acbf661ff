"""The page of webhooks: what an owner makes, sees of what was sent, and presses."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from studies.models import Event
from tests.factories import NOON, make_member, make_project
from workspace.actions import deliveries
from workspace.actions.deliveries import deliver
from workspace.actions.webhooks import queue_message
from workspace.models import Delivery, Webhook, WebhookKey
from workspace.signatures import key_text
from workspace.webhook_http import Answer

pytestmark = pytest.mark.django_db
PAGE = "/projects/vases/webhooks/"
# Nothing is looked up for an address in numbers.
URL = "https://93.184.215.14/news"
MAKING = {"url": URL, "topics": ["release.made", "alarm.raised"]}


@pytest.fixture
def owner(client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr("workspace.tasks.deliver.delay_on_commit", lambda: None)
    client.force_login(make_member(make_project(), "owner"))
    return client


def text(client: Client) -> str:
    return client.get(PAGE).content.decode()


def made(client: Client) -> Webhook:
    client.post(PAGE, MAKING)
    return Webhook.objects.get()


def test_a_key_is_shown_once_when_it_is_made(owner: Client) -> None:
    shown = owner.post(PAGE, MAKING).content.decode()
    key = key_text(WebhookKey.objects.get().salt)
    assert shown.count(key) == 1
    assert key not in text(owner)
    changed = owner.post(f"{PAGE}{Webhook.objects.get().pk}/key/", {"hours": "24"}).content.decode()
    newest = key_text(WebhookKey.objects.get(expires_at=None).salt)
    assert newest != key
    assert (newest in changed, key in changed) == (True, False)
    assert "also signs until" in text(owner)


def test_what_is_refused_is_said_and_what_was_written_stays(owner: Client) -> None:
    response = owner.post(PAGE, {**MAKING, "url": "https://127.0.0.1/admin"})
    assert response.status_code == 409
    page = response.content.decode()
    assert "127.0.0.1 is in a private network, or is this machine itself." in page
    assert 'value="https://127.0.0.1/admin"' in page
    assert re.findall(r'value="([a-z.]+)" checked', page) == ["release.made", "alarm.raised"]
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    ("status", "answer", "said"),
    [
        (200, "<b>thanks</b>", ["Taken", "&lt;b&gt;thanks&lt;/b&gt;"]),
        (500, "oops", ["The receiver answered 500. It must answer 200 to 299.", "oops"]),
    ],
)
def test_a_message_that_is_tried_shows_what_came_of_it(
    status: int, answer: str, said: list[str], owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = made(owner)
    monkeypatch.setattr(deliveries, "post", lambda *_: Answer(status, answer))
    assert "A test message is being sent." in owner.post(f"{PAGE}{webhook.pk}/try/", follow=True).content.decode()
    message = Delivery.objects.get()
    assert deliver(now=lambda: message.due_at) == 1
    page = text(owner)
    assert str(message.name) in page
    for each in said:
        assert each in page


def test_a_webhook_that_was_switched_off_says_why_and_is_switched_on_by_a_button(owner: Client) -> None:
    webhook = made(owner)
    Webhook.objects.update(off_at=NOON, off_because="It answers nothing.")
    page = text(owner)
    assert '">20 Nov 2026, 12:00 UTC</time>. It answers nothing.' in page
    assert "Send a test message" not in page
    assert "The webhook was switched on again." in owner.post(f"{PAGE}{webhook.pk}/on/", follow=True).content.decode()
    assert not Webhook.objects.exclude(off_at=None).exists()


def test_a_message_is_sent_again_by_its_button_and_only_in_its_project(owner: Client) -> None:
    message = queue_message(webhook=made(owner), topic="release.made", data={}, now=NOON)
    Delivery.objects.update(state="failed", attempts=8)
    assert owner.post(f"/projects/vases/deliveries/{message.pk}/repeat/", follow=True).status_code == 200
    message.refresh_from_db()
    assert (message.state, message.attempts) == ("waiting", 0)
    owner.force_login(make_member(make_project("jugs"), "owner", name="of-jugs"))
    assert owner.post(f"/projects/jugs/deliveries/{message.pk}/repeat/").status_code == 404
    assert owner.post(f"/projects/jugs/webhooks/{message.webhook_id}/delete/").status_code == 404


def test_a_webhook_is_deleted_with_what_it_was_sent(owner: Client) -> None:
    webhook = made(owner)
    queue_message(webhook=webhook, topic="release.made", data={}, now=NOON)
    assert "Nothing more is sent to its URL." in owner.post(f"{PAGE}{webhook.pk}/delete/", follow=True).content.decode()
    assert not Delivery.objects.exists()
    assert Event.objects.get(what="webhook deleted").details == {"host": "93.184.215.14"}


def test_twice_as_many_messages_ask_no_more_queries(
    owner: Client, django_assert_num_queries: Any, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    webhook = made(owner)
    queue_message(webhook=webhook, topic="release.made", data={}, now=NOON)
    with django_assert_max_num_queries(30) as asked:
        text(owner)
    for _ in range(5):
        queue_message(webhook=webhook, topic="release.made", data={}, now=NOON)
    with django_assert_num_queries(len(asked.captured_queries)):
        text(owner)

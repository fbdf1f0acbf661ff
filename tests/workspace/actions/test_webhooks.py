"""What webhooks are told of what happens, and what cannot be a webhook."""

from typing import Any

import pytest
from django.db import transaction

from results.actions.releases import freeze_release, prepare_release
from results.exporting.dataset_card import About
from studies.actions.events import record
from studies.models import Event
from tests.factories import NOON, answer, make_person, make_project, questions, sit_down
from tests.workspace.hooks import URL, asked_about, hook, news
from workspace.actions import webhooks
from workspace.actions.webhooks import WebhookRefused, make_webhook
from workspace.models import Webhook, WebhookKey

pytestmark = pytest.mark.django_db


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
            webhooks.queue_event(event=underpaid())
            assert len(news(webhook)) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert news(webhook) == []


def test_other_projects_other_topics_and_webhooks_that_are_off_are_not_told() -> None:
    told = hook(topics=["alarm.raised"], url=f"{URL}/told")
    others = [hook(make_project("jugs")), hook(topics=["release.made"], url=f"{URL}/releases"), hook(url=f"{URL}/off")]
    Webhook.objects.filter(pk=others[-1].pk).update(off_at=NOON, off_because="Tests.")
    webhooks.queue_event(event=underpaid())
    assert [each["data"]["alarm"] for each in news(told)] == ["study underpaid"]
    assert [news(other) for other in others] == [[], [], []]


def test_a_key_is_not_in_the_database() -> None:
    _, text = make_webhook(project=make_project(), url=URL, topics=["release.made"], by=make_person("ben"), now=NOON)
    stored = str(list(WebhookKey.objects.values())) + str(list(Event.objects.values()))
    assert text.removeprefix("whsec_") not in stored
    assert URL not in stored


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"topics": []}, "Choose at least one event"),
        ({"topics": ["webhook.tried"]}, "Choose at least one event"),
        ({"url": "http://receiver.example/"}, "must begin with https"),
        ({"url": URL}, "already has a webhook"),
    ],
)
def test_what_cannot_be_a_webhook_is_refused(told: dict[str, Any], reason: str) -> None:
    hook()
    fields = {"url": "https://other.example/", "topics": ["release.made"], **told}
    with pytest.raises(WebhookRefused, match=reason):
        make_webhook(project=make_project(), **fields, by=make_person("ben"), now=NOON)
    assert Webhook.objects.count() == 1

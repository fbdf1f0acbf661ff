"""Webhooks of the local platform: subscribed to, confirmed, and received as it sends them."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
import urllib3
from django.test import Client
from pytest_django import Settings

from annotation.actions.recruiting import webhooks
from annotation.actions.recruiting.prolific_account import clock_difference
from annotation.models import ProlificAccount, ProlificStudy, ReceivedWebhook, SessionState
from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.statuses import EventType
from annotation.recruitment.prolific.webhooks import EVENT_ID, SENT_AT, SIGNATURE, sign
from annotation.tasks import connect_webhooks, forget_webhooks, read_prolific_studies
from background.decorator import BackgroundTask
from background.sealed_secrets import seal, unseal
from simulation.prolific_double.server import WORKSPACE
from simulation.prolific_double.switches import Switch
from studies.models import Event
from tests.factories import NOON, fresh, launch_study, make_project
from tests.prolific import Local
from tests.recruited import come, connect_to, flags, mirror, recruit_for

pytestmark = pytest.mark.django_db
ANN, BEN = "60bf9310e8dec401be6e9615", "60bf9310e8dec401be6e9616"
KEY = "a-key-of-the-tests"


@pytest.fixture(autouse=True)
def _noon() -> Iterator[None]:
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def _tasks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks are done when they are sent."""

    def do(task: BackgroundTask[...], args: tuple[Any, ...], kwargs: object = None, **_: object) -> None:
        task(*args)

    monkeypatch.setattr(BackgroundTask, "send", do)


class Site:
    """Takes in, by the pages of this site, what the platform sends."""

    def __init__(self, local: Local, monkeypatch: pytest.MonkeyPatch) -> None:
        self.client, self.statuses = Client(), list[int]()
        monkeypatch.setattr(local.double._deliveries, "_pool", self)

    def request(self, method: str, url: str, *, body: bytes, headers: dict[str, str], redirect: bool) -> Any:
        path = url.removeprefix("http://127.0.0.1:8000")
        response = self.client.post(path, body, content_type="application/json", headers=headers)
        self.statuses.append(response.status_code)
        return urllib3.HTTPResponse(status=response.status_code)


@pytest.fixture
def site(local: Local, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(local, monkeypatch)


def account_with_webhooks(row: ProlificStudy | None = None) -> ProlificAccount:
    account = connect_to(row.study.project if row else make_project())
    webhooks.subscribe_account(account=account, now=NOON)
    webhooks.note_confirmed(account=account, by="tests", now=NOON)
    return fresh(account)


# Subscribing


def test_it_subscribes_and_confirms_each_type_of_event_once(local: Local) -> None:
    account = account_with_webhooks()
    for minutes in (1, 2):
        webhooks.subscribe_account(account=account, now=NOON + timedelta(minutes=minutes))
    found = local.client.list_subscriptions(WORKSPACE)
    address = webhooks.address_of(account)
    assert {(one.event_type, one.target_url, one.is_enabled) for one in found} == {
        (EventType.SUBMISSION_STATUS, address, True),
        (EventType.STUDY_STATUS, address, True),
    }
    assert len(found) == 2
    assert account.webhooks_confirmed_at == NOON
    secret = local.double.store.find("secret", WORKSPACE)
    assert secret is not None
    assert secret["value"] not in account.sealed_webhook_key
    assert unseal(account.sealed_webhook_key) == secret["value"]
    assert Event.objects.get(what="prolific webhooks confirmed").details == {}


def test_both_shapes_of_a_new_subscription_are_confirmed(local: Local) -> None:
    local.switch(Switch.PLAIN_SUBSCRIPTIONS, "1")
    account_with_webhooks()
    assert [one.is_enabled for one in local.client.list_subscriptions(WORKSPACE)] == [True, True]


def test_projects_with_the_same_workspace_share_its_key(local: Local) -> None:
    first = account_with_webhooks()
    second = connect_to(make_project("jugs"))
    webhooks.subscribe_account(account=second, now=NOON + timedelta(minutes=1))
    assert webhooks.key_of(fresh(second)) == webhooks.key_of(fresh(first)) != ""
    assert webhooks.address_of(first) != webhooks.address_of(second)


def test_two_workers_do_not_replace_each_others_key(local: Local) -> None:
    account = account_with_webhooks()
    with pytest.raises(ProlificError, match="Try again in a minute"):
        webhooks.subscribe_account(account=account, now=NOON)


@pytest.mark.parametrize(
    ("site_url", "platform", "workspace", "says"),
    [
        ("https://lab.example.org", "https://api.prolific.com", "5f00", ""),
        ("http://lab.example.org", "https://api.prolific.com", "5f00", "public https address"),
        ("https://localhost", "https://api.prolific.com", "5f00", "public https address"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8400", "5f00", ""),
        ("https://lab.example.org", "https://api.prolific.com", "", "Choose a workspace first."),
    ],
)
def test_why_no_webhooks_can_come_is_said(
    settings: Settings, site_url: str, platform: str, workspace: str, says: str
) -> None:
    settings.SITE_URL, settings.PROLIFIC_ADDRESS = site_url, platform
    account = ProlificAccount(workspace_id=workspace)
    assert says in webhooks.obstacle(account)
    assert bool(webhooks.obstacle(account)) == bool(says)


def test_a_platform_that_is_away_is_tried_again_until_it_confirms(local: Local) -> None:
    account = connect_to(make_project())
    local.switch(Switch.AWAY)
    connect_webhooks(account.pk)
    assert fresh(account).webhooks_confirmed_at is None
    local.switch(Switch.AWAY, "off")
    assert webhooks.accounts_to_connect(now=NOON) == [account.pk]
    with time_machine.travel(NOON + timedelta(minutes=1), tick=False):
        connect_webhooks(account.pk)
    assert fresh(account).webhooks_confirmed_at == NOON + timedelta(minutes=1)
    assert webhooks.accounts_to_connect(now=NOON + timedelta(hours=1)) == []
    # Somebody may have deleted the subscription meanwhile.
    assert webhooks.accounts_to_connect(now=NOON + timedelta(hours=7)) == [account.pk]


def test_a_subscription_that_was_deleted_on_prolific_is_made_again(local: Local) -> None:
    account = account_with_webhooks()
    for one in local.client.list_subscriptions(WORKSPACE):
        local.double.store.delete("subscription", one.id)
    webhooks.subscribe_account(account=account, now=NOON + timedelta(hours=7))
    assert len(local.client.list_subscriptions(WORKSPACE)) == 2


# Receiving


def post(account: ProlificAccount, *, key: str = KEY, body: bytes = b"", at: int = 0, id_: str = "event-1") -> Any:
    """Send a webhook about a study that nobody knows, signed with `key`, `at` seconds from noon."""
    body = body or json.dumps({"resource_id": "66f0", "event_type": "study.status.change", "status": "ACTIVE"}).encode()
    timestamp = str(int(NOON.timestamp()) + at)
    signed = {SIGNATURE: sign(body, timestamp=timestamp, secret=key), SENT_AT: timestamp, EVENT_ID: id_}
    path = webhooks.address_of(account).removeprefix("http://127.0.0.1:8000")
    client = Client(enforce_csrf_checks=True)
    return client.post(path, body, content_type="application/json", headers=signed)


@pytest.fixture
def account(settings: Settings) -> ProlificAccount:
    settings.PROLIFIC_ADDRESS = "http://127.0.0.1:8400"
    account = connect_to(make_project())
    account.sealed_webhook_key = seal(KEY)
    account.save()
    return account


def test_a_signed_webhook_is_taken_once(account: ProlificAccount) -> None:
    assert [post(account).status_code for _ in range(2)] == [200, 200]
    assert ReceivedWebhook.objects.count() == 1


def test_a_wrong_signature_is_refused(account: ProlificAccount) -> None:
    response = post(account, key="another-key")
    assert (response.status_code, response.content.decode()) == (401, "The signature is not Prolific's.")
    ProlificAccount.objects.update(sealed_webhook_key="")
    assert post(account, key="").status_code == 401
    assert not ReceivedWebhook.objects.exists()


@pytest.mark.parametrize("seconds", [-601, 601])
def test_a_webhook_of_another_time_is_refused(account: ProlificAccount, seconds: int) -> None:
    assert post(account, at=seconds).status_code == 400
    assert post(account, at=seconds // 2).status_code == 200


@pytest.mark.both
@pytest.mark.parametrize(
    "body",
    [
        b"not JSON",
        b"[]",
        b'{"event_type": "study.status.change"}',
        rb'{"event_type": "study.status.change\u0000", "resource_id": "66f0"}',
        rb'{"event_type": "study.status.change", "resource_id": "66f0\u0000"}',
    ],
)
def test_what_cannot_be_read_is_refused(account: ProlificAccount, body: bytes) -> None:
    response = post(account, body=body)
    assert (response.status_code, response.content.decode()) == (400, "The body is not an event of Prolific's.")
    assert not ReceivedWebhook.objects.exists()


@pytest.mark.both
@pytest.mark.parametrize("id_", ["", "x" * 101, "event\0"])
def test_a_webhook_without_an_id_is_refused(account: ProlificAccount, id_: str) -> None:
    assert post(account, id_=id_).status_code == 400


def test_a_large_body_is_refused(account: ProlificAccount) -> None:
    assert post(account, body=b" " * 65_537).status_code == 413


def test_nothing_is_at_other_addresses(account: ProlificAccount, client: Client) -> None:
    right = webhooks.address_of(account).removeprefix("http://127.0.0.1:8000")
    for token in ("1", f"{account.pk}-", f"{account.pk}-{'0' * 32}", f"{account.pk + 1}-{right[-33:-1]}"):
        assert client.post(f"/hooks/prolific/{token}/").status_code == 404
    assert client.get(right).status_code == 405


def test_a_webhook_whose_handling_fails_is_not_taken_and_comes_again(
    account: ProlificAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr("annotation.actions.recruiting.submissions.mark_due", fail)
        with pytest.raises(RuntimeError):
            post(account)
    assert not ReceivedWebhook.objects.exists()
    assert post(account).status_code == 200


def test_old_webhooks_are_forgotten(account: ProlificAccount) -> None:
    for days in (29, 31):
        ReceivedWebhook.objects.create(
            account=account, event_id=f"{days}", event_type="x", received_at=NOON - timedelta(days=days)
        )
    forget_webhooks()
    forget_webhooks()
    assert list(ReceivedWebhook.objects.values_list("event_id", flat=True)) == ["29"]


# What follows from one


@pytest.mark.usefixtures("_tasks_at_once")
@pytest.mark.parametrize(
    "switch",
    [
        None,
        Switch.WEBHOOKS_DOUBLED,
        Switch.WEBHOOKS_UNORDERED,
        Switch.WEBHOOKS_FORGED,
        Switch.WEBHOOKS_OF_STRANGERS,
        Switch.WEBHOOKS_UNREADABLE,
    ],
)
def test_a_return_frees_the_place_as_soon_as_its_webhook_comes(
    local: Local, site: Site, django_capture_on_commit_callbacks: Any, switch: Switch | None
) -> None:
    row = recruit_for(launch_study(), local)
    account_with_webhooks(row)
    id_, session = come(local, row, ANN)
    mirror(row, NOON)
    if switch:
        local.switch(switch)
    local.play("return", submission=id_)
    with django_capture_on_commit_callbacks(execute=True):
        local.double._deliveries.send_due()
    if switch == Switch.WEBHOOKS_UNORDERED:
        local.time += timedelta(seconds=3)
        local.double._deliveries.send_due()
    assert fresh(session).state == SessionState.RETURNED
    assert flags(row) == [("RETURNED", "")]
    assert (401 in site.statuses) == (switch == Switch.WEBHOOKS_FORGED)
    assert (400 in site.statuses) == (switch == Switch.WEBHOOKS_UNREADABLE)
    assert Event.objects.filter(what="seat freed").count() == 1


@pytest.mark.usefixtures("_tasks_at_once")
@pytest.mark.parametrize("switch", [Switch.WEBHOOKS_LOST, Switch.WEBHOOKS_LATE])
def test_without_a_webhook_in_time_the_place_is_freed_within_half_a_minute(
    local: Local, site: Site, switch: Switch
) -> None:
    row = recruit_for(launch_study(), local)
    account_with_webhooks(row)
    id_, session = come(local, row, ANN)
    local.double._deliveries.send_due()
    mirror(row, NOON)
    site.statuses.clear()
    local.switch(switch)
    local.play("return", submission=id_)
    local.double._deliveries.send_due()
    assert 200 not in site.statuses
    assert fresh(session).state == SessionState.INSTRUCTIONS
    with time_machine.travel(NOON + timedelta(seconds=30), tick=False):
        read_prolific_studies()
    assert fresh(session).state == SessionState.RETURNED


@pytest.mark.usefixtures("_tasks_at_once")
def test_webhooks_of_a_clock_that_differs_are_taken_once_the_difference_was_measured(local: Local, site: Site) -> None:
    """A clock that is 20 minutes ahead makes each webhook one of another time."""
    row = recruit_for(launch_study(), local)
    account = account_with_webhooks(row)
    local.double._deliveries.send_due()
    site.statuses.clear()
    local.switch(Switch.CLOCK_AHEAD)
    local.taken(row.remote_id, ANN)
    local.double._deliveries.send_due()
    assert site.statuses == [400]
    mirror(row, NOON)
    assert fresh(account).clock_ahead == 20 * 60
    assert clock_difference(fresh(account)).startswith("The clock of this site is 20 minutes behind Prolific’s.")
    local.taken(row.remote_id, BEN)
    local.double._deliveries.send_due()
    assert site.statuses == [400, 200]
    local.switch(Switch.CLOCK_AHEAD, "off")
    mirror(row, NOON)
    assert clock_difference(fresh(account)) == ""


def test_a_clock_that_is_slow_is_told_in_the_other_direction() -> None:
    assert clock_difference(ProlificAccount(clock_ahead=-60)).startswith(
        "The clock of this site is 1 minute ahead of Prolific’s."
    )
    assert clock_difference(ProlificAccount(clock_ahead=29)) == ""


@pytest.mark.usefixtures("_tasks_at_once")
def test_a_webhook_about_somebody_new_is_followed_in_all_open_studies(
    local: Local, site: Site, django_capture_on_commit_callbacks: Any
) -> None:
    row = recruit_for(launch_study(), local)
    account_with_webhooks(row)
    mirror(row, NOON)
    local.taken(row.remote_id, BEN)
    with django_capture_on_commit_callbacks(execute=True):
        local.double._deliveries.send_due()
    assert flags(row) == [("RESERVED", "")]


def test_a_webhook_whose_message_is_lost_leaves_its_study_due(local: Local, site: Site) -> None:
    row = recruit_for(launch_study(), local)
    account_with_webhooks(row)
    id_, _ = come(local, row, ANN)
    assert mirror(row, NOON).due_at != NOON
    local.play("return", submission=id_)
    local.double._deliveries.send_due()
    assert fresh(row).due_at == NOON

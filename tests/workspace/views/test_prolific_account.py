"""The page of the account at Prolific: an owner saves a token that works, tests it and deletes it."""

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.signals import got_request_exception
from django.http import HttpRequest
from django.test import Client
from django.views.debug import ExceptionReporter
from pytest_django import Settings

from annotation.actions.recruiting import webhooks
from annotation.actions.recruiting.prolific_account import connect
from annotation.models import ProlificAccount
from annotation.recruitment.prolific.connection import Connection
from background.sealed_secrets import unseal
from simulation.prolific_double.api import SECOND_WORKSPACE
from simulation.prolific_double.server import WORKSPACE
from simulation.prolific_double.switches import Switch
from studies.models import Event
from tests.factories import make_member, make_project, make_prolific_study, make_study
from tests.prolific import TOKEN, Local, local_platform
from throttle.counters import Verdict

pytestmark = pytest.mark.django_db
PAGE = "/projects/vases/prolific/"


@pytest.fixture
def local(tmp_path: Path, settings: Settings) -> Iterator[Local]:
    with local_platform(tmp_path) as running:
        settings.PROLIFIC_ADDRESS = running.double.address
        yield running


@pytest.fixture
def owner(client: Client) -> Client:
    client.force_login(make_member(make_project(), "owner"))
    return client


def text(client: Client) -> str:
    return client.get(PAGE).content.decode()


def test_a_token_is_tried_and_saved(local: Local, owner: Client) -> None:
    assert "No token yet." in text(owner)
    page = owner.post(PAGE, {"token": f" {TOKEN}\n"}, follow=True).content.decode()
    assert "The token works and is saved. It belongs to A researcher." in page
    assert "Workspaces: Workspace of the local platform with USD 10,000.00 available." in page
    account = ProlificAccount.objects.get()
    assert account.user_name == "A researcher"
    assert account.saved_by == User.objects.get(username="owner")
    assert connect(account).read_user().id == account.user_id


def test_a_token_is_encrypted_and_never_shown(local: Local, owner: Client) -> None:
    page = owner.post(PAGE, {"token": TOKEN}, follow=True).content.decode()
    sealed = ProlificAccount.objects.get().sealed_token
    assert TOKEN not in sealed
    assert unseal(sealed) == TOKEN
    for shown in (page, text(owner), owner.get("/projects/vases/events/").content.decode()):
        assert TOKEN not in shown
        assert sealed not in shown


def test_a_token_that_does_not_work_is_not_saved(local: Local, owner: Client, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    response = owner.post(PAGE, {"token": "a-wrong-token"})
    assert response.status_code == 409
    page = response.content.decode()
    assert "Prolific does not accept the token." in page
    assert "a-wrong-token" not in page + caplog.text
    assert not ProlificAccount.objects.exists()
    assert not Event.objects.filter(what__startswith="prolific").exists()


@pytest.mark.parametrize(
    ("switch", "says"),
    [
        (Switch.AWAY, "Prolific failed (503). Try again later."),
        (Switch.REPLY_LOST, "Prolific did not answer. Try again later."),
        (Switch.RATE_LIMITED, "Prolific has too much to do at the moment."),
    ],
)
def test_a_token_that_cannot_be_tried_is_not_saved(local: Local, owner: Client, switch: Switch, says: str) -> None:
    local.switch(switch)
    response = owner.post(PAGE, {"token": TOKEN})
    assert (response.status_code, says in response.content.decode()) == (409, True)
    assert not ProlificAccount.objects.exists()


def test_a_page_asks_prolific_once_and_does_not_wait(local: Local, owner: Client) -> None:
    local.switch(Switch.RATE_LIMITED, "5")
    owner.post(PAGE, {"token": TOKEN})
    assert local.double.platform.switches.left(Switch.RATE_LIMITED) == 4


@pytest.mark.parametrize("token", ["", "two words", "ключ"])
def test_what_cannot_be_a_token_is_refused(owner: Client, token: str) -> None:
    response = owner.post(PAGE, {"token": token})
    assert response.status_code == 409
    assert "This is not a token of Prolific." in response.content.decode()


def test_a_new_token_replaces_the_old_one(local: Local, owner: Client) -> None:
    project = make_project()
    ProlificAccount.objects.create(project=project, sealed_token="old", user_id="5f00", saved_at="2026-11-20T12:00:00Z")
    assert "Replace token" in text(owner)
    owner.post(PAGE, {"token": TOKEN})
    assert unseal(ProlificAccount.objects.get().sealed_token) == TOKEN


def test_a_token_that_was_revoked_later_is_noticed(local: Local, owner: Client) -> None:
    owner.post(PAGE, {"token": TOKEN})
    assert "The token works. It belongs to" in owner.post(f"{PAGE}try/", follow=True).content.decode()
    local.switch(Switch.TOKEN_REVOKED)
    assert "Prolific does not accept the token." in owner.post(f"{PAGE}try/", follow=True).content.decode()
    assert ProlificAccount.objects.exists()


def test_a_token_under_a_lost_key_is_to_be_saved_again(local: Local, owner: Client, settings: Settings) -> None:
    owner.post(PAGE, {"token": TOKEN})
    settings.SECRET_KEY = "another-secret-of-another-site"
    owner.force_login(User.objects.get(username="owner"))
    page = owner.post(f"{PAGE}try/", follow=True).content.decode()
    assert "encrypted under a key that this site no longer has. Save the token again." in page


@pytest.mark.parametrize(("address", "form"), [("", {"token": TOKEN}), ("try/", {})])
def test_the_token_stays_out_of_reports_of_errors(
    local: Local, owner: Client, monkeypatch: pytest.MonkeyPatch, address: str, form: dict[str, str]
) -> None:
    owner.post(PAGE, {"token": TOKEN})
    reports = []

    def report(request: HttpRequest, **others: object) -> None:
        reports.append(ExceptionReporter(request, *sys.exc_info()).get_traceback_html())

    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(Connection, "_seconds_left", fail)
    owner.raise_request_exception = False
    got_request_exception.connect(report)
    try:
        assert owner.post(f"{PAGE}{address}", form).status_code == 500
    finally:
        got_request_exception.disconnect(report)
    assert len(reports) == 1
    assert TOKEN not in reports[0]


def test_a_token_is_deleted(local: Local, owner: Client) -> None:
    owner.post(PAGE, {"token": TOKEN})
    page = owner.post(f"{PAGE}remove/", follow=True).content.decode()
    assert "The token is deleted here." in page
    assert "No token yet." in page
    assert not ProlificAccount.objects.exists()
    whats = Event.objects.filter(what__startswith="prolific").order_by("pk").values_list("what", "details")
    assert list(whats) == [("prolific account connected", {}), ("prolific account removed", {})]


def test_another_workspace_says_what_stays_with_the_one_before(local: Local, owner: Client) -> None:
    local.switch(Switch.SECOND_WORKSPACE)
    owner.post(PAGE, {"token": TOKEN})
    owner.post(f"{PAGE}workspace/", {"workspace": WORKSPACE})
    stays = "1 study on Prolific and 0 payments stay with the workspace that paid until now."
    row = make_prolific_study(make_study(make_project()))
    assert stays not in owner.post(f"{PAGE}workspace/", {"workspace": WORKSPACE}, follow=True).content.decode()
    changed = owner.post(f"{PAGE}workspace/", {"workspace": SECOND_WORKSPACE}, follow=True).content.decode()
    assert stays in changed
    type(row).objects.update(status="COMPLETED")
    changed = owner.post(f"{PAGE}workspace/", {"workspace": WORKSPACE}, follow=True).content.decode()
    assert "stay with the workspace" not in changed


@pytest.mark.parametrize("address", ["try/", "workspace/", "remove/"])
def test_there_is_nothing_to_do_without_a_token(owner: Client, address: str) -> None:
    assert owner.post(f"{PAGE}{address}").status_code == 404


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("editor", 403), (None, 404)])
def test_owners_alone_see_and_change_it(local: Local, client: Client, role: str | None, status: int) -> None:
    """A stranger does not learn that there is such a project."""
    project = make_project()
    client.force_login(make_member(project, role) if role else make_member(make_project("jugs"), "stranger"))
    assert client.get(PAGE).status_code == status
    for address in ("", "try/", "workspace/", "remove/"):
        assert client.post(f"{PAGE}{address}", {"token": TOKEN}).status_code == status
    assert not ProlificAccount.objects.exists()


def connect_webhooks(owner: Client) -> str:
    return owner.post(f"{PAGE}webhooks/", follow=True).content.decode()


def test_webhooks_are_connected_and_shown(local: Local, owner: Client) -> None:
    owner.post(PAGE, {"token": TOKEN})
    ProlificAccount.objects.update(workspace_id="")
    assert "Not connected. Choose a workspace first." in text(owner)
    ProlificAccount.objects.update(workspace_id=WORKSPACE)
    assert "Not connected yet. This site tries again every minute." in text(owner)
    page = connect_webhooks(owner)
    assert "Prolific has confirmed that it sends webhooks here." in page
    assert "Confirmed by Prolific" in page
    account = ProlificAccount.objects.get()
    for secret in (account.sealed_webhook_key, unseal(account.sealed_webhook_key)):
        assert secret not in page
    assert Event.objects.filter(what="prolific webhooks confirmed").count() == 1


def test_why_webhooks_could_not_be_connected_is_said(local: Local, owner: Client) -> None:
    owner.post(PAGE, {"token": TOKEN})
    ProlificAccount.objects.update(workspace_id=WORKSPACE)
    local.switch(Switch.AWAY)
    assert "Prolific failed (503), so this may have been done or not." in connect_webhooks(owner)
    assert "Not connected yet." in text(owner)


def test_webhooks_are_connected_again_with_a_new_key(
    local: Local, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something else may have replaced the key on Prolific."""
    monkeypatch.setattr(webhooks, "hit", lambda **_: Verdict(allowed=True, retry_after=0, hits=1))
    owner.post(PAGE, {"token": TOKEN})
    ProlificAccount.objects.update(workspace_id=WORKSPACE)
    keys = []
    for _ in range(2):
        connect_webhooks(owner)
        keys.append(unseal(ProlificAccount.objects.get().sealed_webhook_key))
    assert keys[0] != keys[1]
    assert local.double.store.find("secret", WORKSPACE) == {"id": WORKSPACE, "value": keys[1]}


def test_the_only_workspace_pays(local: Local, owner: Client) -> None:
    page = owner.post(PAGE, {"token": TOKEN}, follow=True).content.decode()
    assert "Workspace that pays: Workspace of the local platform." in page
    assert ProlificAccount.objects.get().workspace_id == WORKSPACE


def test_of_several_workspaces_an_owner_chooses_the_one_that_pays(local: Local, owner: Client) -> None:
    local.switch(Switch.SECOND_WORKSPACE)
    page = owner.post(PAGE, {"token": TOKEN}, follow=True).content.decode()
    assert "Which workspace pays?" in page
    assert "Workspace of the local platform, USD 10,000.00 available" in page
    assert "Second workspace of the local platform, USD 0.00 available" in page
    assert "<strong>not chosen yet</strong>" in text(owner)
    refused = owner.post(f"{PAGE}workspace/", {"workspace": "5f0000000000000000000000"})
    assert (refused.status_code, "Choose one of the workspaces." in refused.content.decode()) == (409, True)
    page = owner.post(f"{PAGE}workspace/", {"workspace": SECOND_WORKSPACE}, follow=True).content.decode()
    assert "Second workspace of the local platform pays from now on." in page
    # A new token of the same account keeps the choice.
    page = owner.post(PAGE, {"token": TOKEN}, follow=True).content.decode()
    assert "Workspace that pays: Second workspace of the local platform." in page
    assert Event.objects.filter(what="prolific workspace chosen").count() == 1


def test_a_workspace_is_not_chosen_while_prolific_is_away(local: Local, owner: Client) -> None:
    owner.post(PAGE, {"token": TOKEN})
    local.switch(Switch.AWAY)
    page = owner.get(f"{PAGE}workspace/", follow=True).content.decode()
    assert "Prolific failed (503). Try again later." in page


def test_another_workspace_needs_webhooks_of_its_own(local: Local, owner: Client) -> None:
    local.switch(Switch.SECOND_WORKSPACE)
    owner.post(PAGE, {"token": TOKEN})
    owner.post(f"{PAGE}workspace/", {"workspace": WORKSPACE})
    connect_webhooks(owner)
    assert "Confirmed by Prolific" in text(owner)
    owner.post(f"{PAGE}workspace/", {"workspace": SECOND_WORKSPACE})
    account = ProlificAccount.objects.get()
    assert (account.sealed_webhook_key, account.webhooks_confirmed_at) == ("", None)

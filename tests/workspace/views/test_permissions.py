"""Who gets what from every address of the researcher's pages, with every method."""

import re
from decimal import Decimal
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import resolve

import results.urls
import workspace.urls
from annotation.models import Decision, EntryEvent, Removal, Session
from predictions.models import Model, Run
from results.models import Export, Release
from studies.design.model import Endings, Lobby, Pay
from studies.models import Event, Import, Invitation, Membership, Project, Study, StudyState, Upload
from studies.permissions import FORMER_NAMES, Verb
from tests.databases import kept, rolled_back
from tests.factories import NOON, make_member, make_person, redesign
from tests.pages import signed_in
from tests.workspace.views.addresses import (
    FINE,
    FORMS,
    NO_PAGES,
    NOT_ALLOWED,
    NOT_FOUND,
    OWN,
    OWN_ALONE,
    PEOPLE,
    PRIVATE,
    PUBLIC,
    SIGN_IN,
)
from tests.workspace.views.named import make_what_the_addresses_name
from workspace.models import Delivery, HubPush, Webhook

FIRST = "candidate-0"
DISAGREEMENTS = "/studies/birds/birds-step-3/disagreements/"
decided_before_rows_are_read = pytest.mark.once(
    on="sqlite",
    because="who may is decided by role before a row of the address is read; on both, every role goes through all its "
    "pages and forms here, and what they store is tried by tests of their own",
)


made = kept(make_what_the_addresses_name)


@pytest.fixture(autouse=True)
def _addresses(made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("results.views.exports.send", lambda job: None)
    monkeypatch.setattr("results.views.charts.send", lambda job: None)
    monkeypatch.setattr("workspace.views.projects.imports.send", lambda job: None)
    monkeypatch.setattr("workspace.tasks.deliver.delay_on_commit", lambda: None)
    monkeypatch.setattr("workspace.views.projects.models.send_to_worker", lambda run: None)


@pytest.fixture
def client(made: str) -> Client:
    """A browser in which the project's researcher has signed in."""
    return signed_in(User.objects.get(username=made))


def read(response: Any) -> None:
    """Read a download to its end, so that its file is closed."""
    if response.streaming:
        b"".join(response)


def status(client: Client, method: str, address: str) -> int | str:
    response = client.get(address) if method == "GET" else client.post(address)
    read(response)
    if response.status_code == 302 and response["Location"].startswith("/sign-in/"):
        return SIGN_IN
    return response.status_code


def test_every_address_is_in_the_table() -> None:
    patterns = {str(pattern.pattern) for rooms in (results.urls, workspace.urls) for pattern in rooms.urlpatterns}
    named = {resolve(address.partition("?")[0]).route for address in [*PRIVATE, *PUBLIC, *OWN]}
    assert len(patterns) > 10
    assert named == patterns


@decided_before_rows_are_read
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_somebody_who_has_not_signed_in_is_asked_to(method: str) -> None:
    got = {address: status(Client(), method, address) for address in [*PRIVATE, *OWN_ALONE]}
    assert got == dict.fromkeys(got, SIGN_IN)
    assert Study.objects.get(slug="birds-step-3").state == StudyState.OPEN


@decided_before_rows_are_read
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_stranger_does_not_learn_that_it_exists(method: str) -> None:
    stranger = signed_in(make_person("stranger"))
    got = {address: status(stranger, method, address) for address in PRIVATE}
    assert got == dict.fromkeys(PRIVATE, NOT_FOUND)
    assert Study.objects.get(slug="birds-step-3").state == StudyState.OPEN
    assert Study.objects.get(slug="draft").state == StudyState.DRAFT
    assert Export.objects.count() == 1


def sign_in_as(who: str) -> Client:
    """Return the browser of somebody of this role in the project; nobody else is a member of it."""
    person, browser = make_person("somebody", superuser=who == "superuser"), Client()
    Membership.objects.exclude(pk=1).delete()
    if who != "superuser":
        Membership.objects.create(project=Project.objects.get(), user=person, role=who)
    browser.force_login(person)
    return browser


@decided_before_rows_are_read
@pytest.mark.parametrize(("who", "column"), PEOPLE.items())
def test_everybody_gets_what_the_table_says(who: str, column: str) -> None:
    browser, got = sign_in_as(who), {}
    for address in PRIVATE:
        # What is changed at one address is taken back before the next one.
        with rolled_back():
            got[address] = status(browser, "GET", address), status(browser, "POST", address)
    assert got == {address: expected[column] for address, expected in PRIVATE.items()}


def state_of_everything() -> dict[str, Any]:
    return {
        "events": Event.objects.count(),
        "exports": Export.objects.count(),
        "imports": Import.objects.count(),
        "models": list(Model.objects.values_list("name", "version")),
        "runs": dict(Run.objects.values_list("pk", "state")),
        "releases": Release.objects.count(),
        "studies": dict(Study.objects.values_list("slug", "state")),
        "sessions": dict(Session.objects.values_list("pk", "state")),
        "members": dict(Membership.objects.values_list("pk", "role")),
        "uploads": Upload.objects.count(),
        "pushes": HubPush.objects.count(),
        "webhooks": dict(Webhook.objects.values_list("pk", "off_at")),
        "deliveries": dict(Delivery.objects.values_list("pk", "state")),
        "invitations": Invitation.objects.open(NOON).count(),
        "projects": list(Project.objects.values_list("name", "archived_at")),
        "removals": Removal.objects.count(),
    }


def test_a_viewer_changes_nothing_from_any_address() -> None:
    viewer, before = sign_in_as("viewer"), state_of_everything()
    posted = {"format": "jsonl", "name": "v2", "reason": "clicked", "choice": "none", "study": "birds-step-3"}
    for address in PRIVATE:
        read(viewer.post(address, {**posted, "submission": Session.objects.get().provider_session_id}))
        assert state_of_everything() == before, address


class Ways(HTMLParser):
    """Where a page leads: the addresses of its links, and of its forms that post."""

    def __init__(self, address: str, page: str) -> None:
        super().__init__()
        self.address = address
        self.links: set[str] = set()
        self.forms: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a":
            self.links.add(urljoin(self.address, given["href"]).partition("#")[0])
        elif tag == "form" and given.get("method") == "post":
            self.forms.add(urljoin(self.address, given.get("action", "")))


# A role by its former name is that role (tests/studies/test_permissions.py), and gets what the table above says.
@pytest.mark.parametrize("who", [who for who in PEOPLE if who not in FORMER_NAMES])
def test_no_page_leads_anybody_to_where_they_may_not_go(who: str) -> None:
    """Nobody is shown a link or a button that would refuse them, and who may change things is shown where."""
    settled, conflicting = Decision.objects.filter(study__slug="birds-step-3").order_by("pk")[:2]
    Decision.objects.filter(pk=settled.pk).update(settled_choice=FIRST, state="accepted", winner=FIRST)
    Decision.objects.filter(pk=conflicting.pk).update(answers=1)
    browser, column, ways = sign_in_as(who), PEOPLE[who], {}
    pages = [address for address, gets in PRIVATE.items() if gets[column][0] == FINE and address not in NO_PAGES]
    for address in [*pages, f"{DISAGREEMENTS}?show=settled"]:
        ways[address] = Ways(address, browser.get(address).content.decode())
    links = set().union(*(found.links for found in ways.values()))
    # Who may is said of a page, whatever is asked of it: one of each is followed.
    of_each = {link.partition("?")[0]: link for link in sorted(links)}
    refused = {link for link in of_each.values() if leads_to_403(browser, link)}
    assert {(here, link) for here, found in ways.items() for link in found.links & refused} == set()
    forms = set().union(*(found.forms for found in ways.values())) - {"/sign-out/"}
    assert {resolve(form.partition("?")[0]).url_name for form in forms} == FORMS[column]
    assert 403 not in {status(browser, "POST", form) for form in sorted(forms)}


def leads_to_403(browser: Client, link: str) -> bool:
    return link.startswith("/") and status(browser, "GET", link) == 403


def test_a_viewer_is_shown_no_link_for_annotators_and_no_code() -> None:
    study = Study.objects.get(slug="birds-step-3")
    redesign(
        study,
        endings=Endings(stopped="code", time_over="code"),
        lobby=Lobby(minutes=5, pay=Decimal(0), either_role=False),
        pay=Pay(currency="USD", per_session=Decimal("1.00"), least_answers=2, per_answer=Decimal(0)),
    )
    secrets = {study.invite_token, *study.completion_codes.values_list("code", flat=True)}
    EntryEvent.objects.create(study=study, what="unfilled", at=NOON)
    browser = sign_in_as("viewer")
    shown = browser.get("/studies/birds/birds-step-3/").content.decode()
    assert browser.get("/studies/birds/birds-step-3/recruit/").status_code == 403
    assert {secret for secret in secrets if secret in shown} == set()
    assert "placeholders" not in shown
    Membership.objects.exclude(pk=1).update(role="editor")
    shown = browser.get("/studies/birds/birds-step-3/recruit/").content.decode()
    assert {secret for secret in secrets if secret in shown} == secrets
    assert "placeholders were not filled in" in shown


def test_whoever_may_not_is_told_who_may_and_whom_to_ask() -> None:
    viewer = sign_in_as("viewer")
    address = "/studies/birds/birds-step-3/pause/"
    text = viewer.get(address).content.decode()
    assert "Only owners and editors of Birds may launch, pause, close and extend studies, share their links" in text
    assert "You are a viewer. Nothing was changed." in text
    assert "The project has no owner. Ask your administrator." in text
    olga = make_member(Project.objects.get(), "owner", name="olga")
    assert (
        "Ask its owner to do it, or to give you another role: <strong>olga</strong>."
        in viewer.get(address).content.decode()
    )
    olga.first_name, olga.last_name = "Olga", "Sanz"
    olga.save()
    make_member(Project.objects.get(), "owner", name="aitor")
    text = viewer.get(address).content.decode()
    assert "Ask one of its owners to do it, or to give you another role:" in text
    assert "<strong>aitor</strong>, <strong>olga</strong> (Olga Sanz)." in text


def test_templates_ask_for_verbs_that_there_are() -> None:
    asked = {
        verb
        for template in (settings.BASE_DIR / "templates").rglob("*.html")
        for tag in re.findall(r"{%(.*?)%}", template.read_text())
        for verb in re.findall(r"\bmay\.(\w+)", tag)
    }
    assert {"run", "settle", "export"} <= asked <= {verb.value for verb in Verb}


@decided_before_rows_are_read
def test_private_pages_are_kept_in_no_cache(client: Client) -> None:
    for address in PRIVATE:
        response = client.get(address)
        read(response)
        assert "no-store" in response["Cache-Control"], address


def test_a_stranger_sees_no_project_of_others() -> None:
    stranger = signed_in(make_person("stranger"))
    page = stranger.get("/").content.decode()
    assert "You are not a member of any project yet." in page
    assert "Birds" not in page


@pytest.mark.parametrize("address", ["/healthz", "/readyz"])
def test_health_is_for_everybody(address: str) -> None:
    assert status(Client(), "GET", address) == FINE
    assert status(Client(), "POST", address) == NOT_ALLOWED


def test_signing_out_takes_a_post(client: Client) -> None:
    assert status(client, "GET", "/sign-out/") == NOT_ALLOWED
    assert status(client, "POST", "/sign-out/") == SIGN_IN
    assert status(client, "GET", "/") == SIGN_IN


@pytest.mark.parametrize(
    "address", ["/studies/birds/draft/launch/", "/studies/birds/birds-step-3/close/", "/sign-out/"]
)
def test_a_change_needs_the_token_of_our_own_form(address: str) -> None:
    member = Client(enforce_csrf_checks=True)
    member.force_login(make_person("root", superuser=True))
    assert status(member, "POST", address) == 403

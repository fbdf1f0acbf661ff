"""Who gets what from every address of the researcher's pages, with every method."""

import re
from decimal import Decimal
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import resolve

import results.urls
import workspace.urls
from annotation.models import Decision, EntryEvent, Removal, Session
from background.models import Job
from predictions.models import Model, Run
from results.actions.exports import make_export, request_export
from results.models import Export, Pseudonym, Release
from studies.actions.membership import invite
from studies.design import Endings, Lobby
from studies.models import Event, Import, Instance, Invitation, Membership, Project, Question, Study, StudyState, Upload
from studies.permissions import Verb
from tests.databases import kept, rolled_back
from tests.factories import (
    NOON,
    draw_instance,
    make_launched,
    make_member,
    make_model,
    make_person,
    make_project,
    make_study,
    redesign,
    sit_down,
)
from workspace.models import Delivery, HubPush, Webhook

SIGN_IN, NOT_FOUND, NOT_ALLOWED, FINE, ELSEWHERE = "sign in", 404, 405, 200, 302

# What somebody gets from an address by GET and by POST.
Gets = tuple[int, int]
LOOK: Gets = (FINE, NOT_ALLOWED)
NO: Gets = (403, 403)


def all_alike(gets: Gets) -> dict[str, Gets]:
    return {"viewer": gets, "editor": gets, "owner": gets}


def changing(gets: Gets, *, viewer: Gets = NO) -> dict[str, Gets]:
    return {"viewer": viewer, "editor": gets, "owner": gets}


def owners_alone(gets: Gets) -> dict[str, Gets]:
    return {"viewer": NO, "editor": NO, "owner": gets}


# address -> role -> what somebody of that role gets. A study in the draft state has the slug "draft".
PRIVATE = {
    "/projects/birds/": all_alike(LOOK),
    "/projects/birds/members/": all_alike(LOOK),
    # Without a role. The membership is somebody else's.
    "/projects/birds/members/invite/": owners_alone((ELSEWHERE, 409)),
    "/projects/birds/members/1/role/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/members/1/remove/": owners_alone((FINE, ELSEWHERE)),
    "/projects/birds/invitations/1/cancel/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    # Without a name.
    "/projects/birds/name/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    # With an open study.
    "/projects/birds/archive/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    # Without an address; with none of the choices.
    "/projects/birds/webhooks/": owners_alone((FINE, 409)),
    "/projects/birds/webhooks/1/key/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/webhooks/1/try/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/webhooks/1/on/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/webhooks/1/delete/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/deliveries/1/repeat/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/instances/": all_alike(LOOK),
    "/projects/birds/instances/row-1/": all_alike(LOOK),
    "/projects/birds/instances/by-id/1/": all_alike(LOOK),
    # Without an instance.
    "/projects/birds/chosen/tag/": changing((FINE, 409)),
    "/projects/birds/chosen/export/": changing((FINE, 409)),
    "/projects/birds/chosen/ask-again/": changing((FINE, 409)),
    "/projects/birds/people/A-34679/withdraw/": changing((FINE, ELSEWHERE)),
    # Without a reason.
    "/projects/birds/people/A-34679/exclude/": changing((FINE, 409)),
    # Of somebody who is not excluded.
    "/projects/birds/people/A-34679/include/": changing((409, 409)),
    "/projects/birds/people/A-34679/reopen/": changing((409, 409)),
    "/projects/birds/people/find/": owners_alone((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/results/": all_alike(LOOK),
    "/projects/birds/people-and-models/": all_alike(LOOK),
    "/projects/birds/events/": all_alike(LOOK),
    "/projects/birds/dataset/": changing((NOT_ALLOWED, ELSEWHERE)),
    "/projects/birds/report/md/": all_alike(LOOK),
    "/studies/birds/birds-step-3/results/": all_alike(LOOK),
    "/studies/birds/birds-step-3/annotators/": all_alike(LOOK),
    "/studies/birds/birds-step-3/disagreements/": all_alike(LOOK),
    "/studies/birds/birds-step-3/disagreements/1/settle/": changing((NOT_ALLOWED, 409)),
    "/studies/birds/birds-step-3/disagreements/1/unsettle/": changing((NOT_ALLOWED, 409)),
    "/studies/birds/birds-step-3/": all_alike(LOOK),
    "/studies/birds/birds-step-3/progress/": all_alike(LOOK),
    # From before the project stood in it.
    "/studies/birds-step-3/": all_alike((ELSEWHERE, 307)),
    # Without a study file; without a name.
    "/studies/birds/draft/file/": changing((ELSEWHERE, 409)),
    # Without fields, of a study file that is none.
    "/studies/birds/draft/form/": changing((FINE, 409)),
    "/studies/birds/draft/design/": all_alike(LOOK),
    # Without an instance.
    "/studies/birds/draft/practice/": changing((FINE, 409)),
    "/projects/birds/new-study/form/": changing((FINE, 409)),
    "/projects/birds/markdown/": changing((NOT_ALLOWED, FINE)),
    "/studies/birds/draft/duplicate/": changing((FINE, 409)),
    "/studies/birds/draft/delete/": changing((FINE, ELSEWHERE)),
    # A draft's page, which has other buttons.
    "/studies/birds/draft/": all_alike(LOOK),
    "/studies/birds/draft/launch/": changing((FINE, ELSEWHERE)),
    "/studies/birds/birds-step-3/pause/": changing((FINE, ELSEWHERE)),
    "/studies/birds/birds-step-3/resume/": changing((ELSEWHERE, 409)),
    "/studies/birds/birds-step-3/close/": changing((FINE, ELSEWHERE)),
    # Without saying what.
    "/studies/birds/birds-step-3/more/": changing((FINE, 409)),
    "/studies/birds/birds-step-3/completion/": changing((NOT_ALLOWED, ELSEWHERE)),
    "/studies/birds/birds-step-3/exports/": changing((ELSEWHERE, ELSEWHERE)),
    "/studies/birds/birds-step-3/preview/": all_alike((FINE, 303)),
    "/studies/birds/birds-step-3/preview/phone/": all_alike(LOOK),
    # Without a name.
    "/studies/birds/birds-step-3/releases/": changing((FINE, 409), viewer=(FINE, 403)),
    "/studies/birds/birds-step-3/sessions/1/free/": changing((FINE, ELSEWHERE)),
    # Without a reason.
    "/studies/birds/birds-step-3/questions/1/": changing((FINE, 409)),
    "/studies/birds/birds-step-3/returned/": changing((NOT_ALLOWED, ELSEWHERE)),
    # Without a study file.
    "/projects/birds/new-study/": changing((FINE, 409)),
    "/projects/birds/imports/": all_alike(LOOK),
    # Without a file.
    "/projects/birds/imports/new/": changing((FINE, 409)),
    "/projects/birds/uploads/": changing((NOT_ALLOWED, 201)),
    # One that failed: there is nothing to cancel, and it can be tried again.
    "/imports/1/": all_alike(LOOK),
    "/imports/1/cancel/": changing((ELSEWHERE, ELSEWHERE)),
    "/imports/1/again/": changing((ELSEWHERE, ELSEWHERE)),
    "/imports/1/problems/": all_alike(LOOK),
    "/projects/birds/models/": all_alike(LOOK),
    "/models/1/rename/": changing((FINE, ELSEWHERE)),
    "/models/1/delete/": changing((FINE, ELSEWHERE)),
    "/projects/birds/near-duplicates/": all_alike(LOOK),
    # One that was cancelled: there is nothing to cancel, and one can go on with it.
    "/runs/1/": all_alike(LOOK),
    "/runs/1/cancel/": changing((ELSEWHERE, ELSEWHERE)),
    "/runs/1/go-on/": changing((ELSEWHERE, ELSEWHERE)),
    "/exports/1/": all_alike(LOOK),
    "/exports/1/cancel/": changing((ELSEWHERE, ELSEWHERE)),
    "/exports/1/download/": changing(LOOK),
    "/releases/1/provider-ids/": owners_alone(LOOK),
    # Without a repository; one that is over.
    "/releases/1/hub/": changing((FINE, 409)),
    "/hub-pushes/1/": changing(LOOK),
    "/hub-pushes/1/cancel/": changing((NOT_ALLOWED, ELSEWHERE)),
}
PROBLEM = b'{"file": "birds.jsonl", "record": 1, "field": "key", "reason": "It is empty."}\n'
PUBLIC = {
    *("/sign-in/", "/healthz", "/readyz"),
    *("/invitations/x/", "/forgotten/", "/forgotten/sent/", "/forgotten/x/y/", "/account/mail/x/"),
    # Where no provider is configured there is nothing.
    *("/sign-in/elsewhere/", "/sign-in/elsewhere/back/"),
}
# Of an upload nobody is told but who makes it (`test_uploads`).
UPLOAD = "/uploads/00000000-0000-4000-8000-000000000000/"
OWN_ALONE = (
    *("/", "/password/", "/new-project/", "/tokens/", "/tokens/1/revoke/", UPLOAD, f"{UPLOAD}rows/"),
    *("/account/", "/account/name/", "/account/mail/"),
    *("/account/elsewhere/connect/", "/account/elsewhere/disconnect/"),
    *("/account/browsers/1/sign-out/", "/account/browsers/sign-out/"),
)
OWN = {"/sign-out/", *OWN_ALONE}
# The role that a member has in the database, and the column of the table that tells what they get.
PEOPLE = {
    "viewer": "viewer",
    "editor": "editor",
    "owner": "owner",
    # As the version before wrote it.
    "researcher": "editor",
    "superuser": "owner",
}


decided_before_rows_are_read = pytest.mark.once(
    on="sqlite",
    because="who may is decided by role before a row of the address is read; on both, every role goes through all its "
    "pages and forms here, and what they store is tried by tests of their own",
)


def make_what_the_addresses_name() -> str:
    """Make the studies birds-step-3 and draft, a ready export, a failed import and a release, number 1 each."""
    researcher = make_person("researcher")
    project = make_project("birds", members=[researcher])
    Membership.objects.update(id=1)
    for number in range(1, 5):
        draw_instance(project, number)
    draft = make_study(project)
    Study.objects.create(
        **{
            field.name: getattr(draft, field.name)
            for field in Study._meta.fields
            if field.name not in {"id", "slug", "public_token", "invite_token"}
        },
        slug="draft",
        invite_token="other",
    )
    study = make_launched(draft)
    # Where the database has counted on since the last test, there is no question or instance number 1 yet.
    fields = {"study": study, "instance": draw_instance(study.project, 5), "kind": "best_of_n"}
    if not Instance.objects.filter(pk=1).exists():
        draw_instance(study.project, 6, pk=1)
    content = study.questions.values_list("content", flat=True)[0]
    Question.objects.get_or_create(pk=1, defaults=fields | {"content": content, "answers_wanted": 1})
    Decision.objects.get_or_create(question_id=1, defaults={"study": study, "rule": study.rule})
    owner = make_person("owner", superuser=True)
    export = request_export(study=study, format="jsonl", by=owner, now=NOON)
    Export.objects.filter(pk=export.pk).update(id=1)
    Job.objects.update(arguments={"export": 1})
    make_export(export=Export.objects.get(pk=1), now=lambda: NOON)
    somebody = sit_down(study, "somebody", pk=1).annotator
    Pseudonym.objects.create(project=study.project, annotator=somebody, name="A-34679")
    default_storage.save("imports/1/problems.jsonl", ContentFile(PROBLEM))
    # Numbered afterwards, so that the database counts on from there.
    wanted = Import.objects.create(
        project=study.project,
        files=[{"path": "/data/birds.jsonl", "sha256": "0" * 64}],
        error="Nothing was imported.",
        problems_file="imports/1/problems.jsonl",
        requested_at=NOON,
        finished_at=NOON,
    )
    Import.objects.filter(pk=wanted.pk).update(id=1)
    asked = Run.objects.create(
        project=study.project,
        study=study,
        spec="open_clip:ViT-B-32/openai",
        state=Run.State.CANCELLED,
        requested_at=NOON,
        finished_at=NOON,
    )
    Run.objects.filter(pk=asked.pk).update(id=1)
    invitation, _ = invite(project=project, role="viewer", days=7, whom="", by=owner, now=NOON)
    Invitation.objects.filter(pk=invitation.pk).update(id=1)
    Model.objects.filter(pk=make_model(study.project).pk).update(id=1)
    webhook = Webhook.objects.create(pk=1, project=project, url="https://example.org/", topics=[], made_at=NOON)
    Delivery.objects.create(pk=1, webhook=webhook, topic="release.made", made_at=NOON, due_at=NOON)
    release = Release.objects.create(project=study.project, study=study, name="v1", made_at=NOON)
    Release.objects.filter(pk=release.pk).update(id=1)
    over = {"repository": "lab/birds", "error": "It was cancelled.", "requested_at": NOON, "finished_at": NOON}
    HubPush.objects.create(pk=1, project=project, release_id=1, **over)
    return researcher.get_username()


made = kept(make_what_the_addresses_name)


@pytest.fixture(autouse=True)
def _addresses(made: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("results.views.exports.send", lambda job: None)
    monkeypatch.setattr("workspace.views.imports.send", lambda job: None)
    monkeypatch.setattr("workspace.tasks.deliver.delay_on_commit", lambda: None)
    monkeypatch.setattr("workspace.views.models.send_to_worker", lambda run: None)


@pytest.fixture
def client(made: str) -> Client:
    """A browser in which the project's researcher has signed in."""
    client = Client()
    client.force_login(User.objects.get(username=made))
    return client


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
    named = {resolve(address).route for address in [*PRIVATE, *PUBLIC, *OWN]}
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
    stranger = Client()
    stranger.force_login(make_person("stranger"))
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


@pytest.mark.parametrize("who", PEOPLE)
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
    refused = {link for link in links if leads_to_403(browser, link)}
    assert {(here, link) for here, found in ways.items() for link in found.links & refused} == set()
    forms = set().union(*(found.forms for found in ways.values())) - {"/sign-out/"}
    assert {resolve(form).url_name for form in forms} == FORMS[column]
    assert 403 not in {status(browser, "POST", form) for form in sorted(forms)}


FIRST = "candidate-0"
DISAGREEMENTS = "/studies/birds/birds-step-3/disagreements/"
# Files; and what annotators see, whose forms lead on in the preview.
NO_PAGES = {
    *("/projects/birds/report/md/", "/exports/1/download/", "/releases/1/provider-ids/", "/imports/1/problems/"),
    "/studies/birds/birds-step-3/preview/",
}
# The forms that somebody meets in all the pages that they may see.
FORMS_OF_EDITORS = {
    *("new_study_form", "study_form", "study_completion"),
    *(
        "exclude_person",
        "withdraw_person",
        "project_dataset",
        "import_again",
        "run_go_on",
        "model_rename",
        "model_delete",
    ),
    *("free_seat", "session_returned", "settle", "unsettle", "study_question"),
    *("study_launch", "study_pause", "study_close"),
    *("study_file", "study_duplicate", "study_delete", "new_study", "new_import"),
    *("study_exports", "study_releases"),
}
FORMS_OF_OWNERS = FORMS_OF_EDITORS | {
    *("find_person", "invite_member", "cancel_invitation", "change_role", "remove_member"),
    *("rename_project", "archive_project"),
    *("webhooks", "webhook_key", "webhook_try", "webhook_delete"),
}
FORMS = {"viewer": set[str](), "editor": FORMS_OF_EDITORS, "owner": FORMS_OF_OWNERS}


def leads_to_403(browser: Client, link: str) -> bool:
    return link.startswith("/") and status(browser, "GET", link) == 403


def test_a_viewer_is_shown_no_link_for_annotators_and_no_code() -> None:
    study = Study.objects.get(slug="birds-step-3")
    redesign(
        study,
        endings=Endings(stopped="code", time_over="code"),
        lobby=Lobby(minutes=5, pay=Decimal(0), either_role=False),
    )
    secrets = {study.invite_token, *study.completion_codes.values_list("code", flat=True)}
    EntryEvent.objects.create(study=study, what="unfilled", at=NOON)
    browser = sign_in_as("viewer")
    shown = browser.get("/studies/birds/birds-step-3/").content.decode()
    assert {secret for secret in secrets if secret in shown} == set()
    assert "placeholders" not in shown
    Membership.objects.exclude(pk=1).update(role="editor")
    shown = browser.get("/studies/birds/birds-step-3/").content.decode()
    assert {secret for secret in secrets if secret in shown} == secrets
    assert "placeholders were not filled in" in shown


def test_whoever_may_not_is_told_who_may_and_whom_to_ask() -> None:
    viewer = sign_in_as("viewer")
    address = "/studies/birds/birds-step-3/pause/"
    text = viewer.get(address).content.decode()
    assert "Only owners and editors of Birds may launch, pause and close studies, hand out their links" in text
    assert "You are a viewer. Nothing was changed." in text
    assert "The project has no owner. Ask whoever runs this server." in text
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
    stranger = Client()
    stranger.force_login(make_person("stranger"))
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

"""What owners and editors decide by script: members, the archive, whose answers count, and settling."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import connection
from pytest_django.fixtures import Settings

from annotation.models import Annotator, SessionFlag
from results.models import Pseudonym
from studies.models import Event, Invitation, Membership, Project, Study
from tests.factories import NOON, answer, make_member, make_person, questions, sit_down
from tests.workspace.api.asking import BIRDS, STUDY, Script, script_of
from workspace.models import KeptAnswer

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(study: Study) -> Project:
    return study.project


@pytest.fixture
def script(project: Project) -> Script:
    return script_of(make_member(project, "owner"))


def events() -> list[str]:
    return list(Event.objects.order_by("pk").values_list("what", flat=True))


def test_a_project_is_renamed_and_archived_or_neither(script: Script, project: Project) -> None:
    refused = script.ask("PATCH", BIRDS, {"name": "Finches", "archived": True})
    # Its study is open.
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:lineup:problem:not-now")
    project.refresh_from_db()
    assert (project.name, events()[-1:] == ["project renamed"]) == ("Birds", False)
    script.post(f"{STUDY}close/")
    told = script.ask("PATCH", BIRDS, {"name": "Finches", "archived": True}).json()
    assert (told["name"], told["archived_at"] is None) == ("Finches", False)
    assert script.post(f"{BIRDS}studies/", {}).status_code == 403
    assert script.ask("PATCH", BIRDS, {"archived": False}).json()["archived_at"] is None
    assert script.ask("PATCH", BIRDS, {}).json()["name"] == "Finches"


def test_a_link_is_told_once_even_where_its_request_is_asked_again(script: Script, settings: Settings) -> None:
    settings.MAIL_FROM = "lineup@example.org"
    wanted = {"role": "viewer", "mail": "amaia@example.org"}
    made, again = (script.post(f"{BIRDS}invitations/", wanted, Idempotency_Key="one") for _ in range(2))
    link = made.json()["link"]
    assert link.startswith("http://127.0.0.1:8000/invitations/")
    assert (made.status_code, made.json()["mailed"]) == (201, True)
    assert (again.json()["mailed"], again.json()["link"]) == (True, None)
    assert link in str(mail.outbox[0].body)
    assert (Invitation.objects.count(), len(mail.outbox)) == (1, 1)
    secret = link.split("/")[-2]
    assert secret not in KeptAnswer.objects.get().body
    assert secret not in json.dumps(script.get(f"{BIRDS}invitations/").json())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("key", [{}, {"Idempotency_Key": "one"}])
def test_a_slow_mail_server_keeps_nobody_from_writing(
    script: Script, settings: Settings, monkeypatch: pytest.MonkeyPatch, key: dict[str, str]
) -> None:
    settings.MAIL_FROM = "lineup@example.org"
    held: list[bool] = []
    monkeypatch.setattr("workspace.mail.send_mail", lambda *_: held.append(connection.in_atomic_block))
    script.post(f"{BIRDS}invitations/", {"role": "viewer", "mail": "amaia@example.org"}, **key)
    assert (held, Invitation.objects.count()) == ([False], 1)


def test_an_invitation_is_cancelled_once(script: Script) -> None:
    made = script.post(f"{BIRDS}invitations/", {"role": "viewer"}).json()
    address = f"{BIRDS}invitations/{made['id']}/"
    assert [script.ask("DELETE", address).status_code for _ in range(2)] == [204, 409]
    assert script.get(f"{BIRDS}invitations/").json()["results"] == []


def test_a_role_is_changed_and_a_membership_ended(script: Script, project: Project) -> None:
    make_member(project, "viewer", name="amaia@uni")
    told = script.ask("PATCH", f"{BIRDS}members/amaia@uni/", {"role": "editor"}).json()
    assert (told["username"], told["role"]) == ("amaia@uni", "editor")
    assert script.ask("DELETE", f"{BIRDS}members/amaia@uni/").status_code == 204
    assert not Membership.objects.filter(user__username="amaia@uni").exists()
    # The last owner stays.
    Membership.objects.exclude(user__username="owner").delete()
    assert script.ask("DELETE", f"{BIRDS}members/owner/").status_code == 409
    assert script.ask("PATCH", f"{BIRDS}members/owner/", {"role": "viewer"}).status_code == 409


def test_everybody_ends_their_own_membership_and_a_viewer_no_other(script: Script, project: Project) -> None:
    viewer = script_of(make_member(project, "viewer"))
    assert viewer.ask("DELETE", f"{BIRDS}members/owner/").status_code == 403
    assert viewer.ask("DELETE", f"{BIRDS}members/viewer/").status_code == 204
    assert viewer.get(BIRDS).status_code == 404


@pytest.fixture
def name(study: Study) -> str:
    """Let somebody answer a question; return their pseudonym."""
    answer(sit_down(study, "provider-id-of-ann"), questions(study)[0], "candidate-1")
    return Pseudonym.objects.create(project=study.project, annotator=Annotator.objects.get(), name="A-34679").name


def people(script: Script) -> Any:
    return script.get(f"{BIRDS}people/").json()["results"]


def test_a_person_is_excluded_and_counted_again_after_a_look_at_what_follows(script: Script, name: str) -> None:
    address = f"{BIRDS}people/{name}/"
    before = people(script)
    assert before == [{"name": name, "counts": True, "why_not": "", "since": None}]
    looked = script.post(f"{address}exclude/", {"dry_run": True}).json()
    assert (looked["answers"], people(script)) == (1, before)
    assert script.post(f"{address}exclude/", {}).status_code == 409
    done = script.post(f"{address}exclude/", {"reason": "clicked"}).json()
    assert (done["answers"], done["sessions"], done["slots"]) == (1, 1, 0)
    assert done["sentence"].startswith("1 answer no longer counts. ")
    assert [(each["counts"], each["why_not"]) for each in people(script)] == [(False, "excluded")]
    assert script.get(f"{STUDY}responses/").json()["results"] == []
    assert script.post(f"{address}reopen/", {}).json()["slots"] == 1
    assert script.post(f"{address}include/", {}).status_code == 200
    assert people(script)[0]["counts"]


def test_who_withdraws_is_out_for_good(script: Script, name: str) -> None:
    assert script.post(f"{BIRDS}people/{name}/withdraw/", {}).json()["answers"] == 1
    assert people(script)[0]["why_not"] == "withdrawn"
    assert script.post(f"{BIRDS}people/{name}/include/", {}).status_code == 409


def test_no_providers_id_is_told_and_none_is_understood(script: Script, name: str) -> None:
    assert "provider-id-of-ann" not in json.dumps(people(script))
    assert script.post(f"{BIRDS}people/provider-id-of-ann/exclude/", {"reason": "x"}).status_code == 404


def test_a_question_is_settled_and_that_is_taken_back(script: Script, study: Study) -> None:
    decision = script.get(f"{STUDY}decisions/").json()["results"][0]
    address = f"{STUDY}decisions/{decision['id']}/"
    refused = script.post(f"{address}settle/", {"choice": "candidate-9"})
    assert (refused.status_code, "is not an option of this question" in refused.json()["detail"]) == (409, True)
    settled = script.post(f"{address}settle/", {"choice": "candidate-1", "note": "Clear."}).json()
    assert settled == {
        "id": decision["id"],
        "state": "accepted",
        "winner": "candidate-1",
        "settled_choice": "candidate-1",
        "settled_note": "Clear.",
    }
    assert events()[-1] == "question settled"
    back = script.post(f"{address}unsettle/").json()
    assert (back["state"], back["settled_choice"]) == ("undecided", "")


def test_the_decision_of_another_study_is_not_there(script: Script, study: Study) -> None:
    theirs = script_of(make_person("operator", superuser=True))
    decision = study.decisions.all()[0].pk
    address = f"{BIRDS}studies/another/decisions/{decision}/settle/"
    Study.objects.create(
        **{
            field.name: getattr(study, field.name)
            for field in Study._meta.fields
            if field.name not in {"id", "slug", "public_token", "invite_token"}
        },
        slug="another",
        invite_token="other",
    )
    assert theirs.post(address, {"choice": "candidate-1"}).status_code == 404


def test_an_owner_of_one_project_decides_nothing_in_another(script: Script, name: str) -> None:
    stranger = script_of(User.objects.create_user("stranger"))
    assert stranger.post(f"{BIRDS}people/{name}/exclude/", {"reason": "x"}).status_code == 404
    assert people(script)[0]["counts"]


def test_a_flag_is_reviewed_once_and_the_review_is_undone(script: Script, study: Study) -> None:
    session = sit_down(study, "ann")
    evidence = {"hidden": 5, "measured": 6}
    flag = SessionFlag.objects.create(session=session, rule="hidden_tab", version=2, evidence=evidence, found_at=NOON)
    address = f"{BIRDS}flags/{flag.pk}/"
    told = script.get(f"{BIRDS}flags/").json()["results"][0]
    assert (told["person"], told["verdict"]) == (Pseudonym.objects.get(annotator=session.annotator_id).name, "")
    assert told["evidence"] == "The tab was hidden for most of the time of 5 of 6 measured answers."
    assert script.post(f"{address}review/", {"verdict": "rejected"}).status_code == 400
    reviewed = script.post(f"{address}review/", {"verdict": "dismissed", "note": "A screen reader."}).json()
    assert (reviewed["verdict"], reviewed["note"]) == ("dismissed", "A screen reader.")
    again = script.post(f"{address}review/", {"verdict": "upheld"})
    assert (again.status_code, again.json()["type"]) == (409, "urn:lineup:problem:not-now")
    assert " dismissed this on " in again.json()["detail"]
    assert script.post(f"{address}undo/").json()["verdict"] == ""
    assert events()[-2:] == ["flags dismissed", "flags to review again"]

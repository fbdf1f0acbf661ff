"""An owner downloads all that a project stores about one person."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from annotation.actions.arriving import suspicious_arrivals
from annotation.actions.removing import removals
from annotation.models import (
    Annotator,
    Block,
    Draft,
    EntryEvent,
    GroupMember,
    PanelMember,
    Payment,
    PersonMessage,
    PersonNote,
    ProlificStudy,
    Report,
    Seat,
    Session,
    SessionFlag,
    SessionState,
    Skip,
    Submission,
)
from background.sealed_secrets import keyed_digest, seal
from results.actions.personal_data import PARTS
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from studies.models import Event, Project, Study
from tests.factories import NOON, answer, launch_study, make_member, make_person, make_project, sit_down

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return launch_study(make_project("vases"), answers=3)


@pytest.fixture
def ann(study: Study) -> str:
    """Ann, who answered and left traces in every table, beside ben, who did so too; return her name."""
    for person in ("ann", "ben"):
        _leave_traces(study, person)
    name_annotators(project=study.project)
    return Pseudonym.objects.get(annotator=Annotator.objects.with_id("prolific", ["ann"]).get()).name


def _leave_traces(study: Study, person: str) -> None:
    session = sit_down(study, person)
    first, second, third, *_ = study.questions.order_by("pk")
    answer(session, first, "candidate-0")
    answer(session, first, "candidate-1", now=NOON + timedelta(minutes=1))
    slot = session.seat.slots.filter(question=second).get()
    Draft.objects.create(session=session, slot=slot, fields={"choice": f"draft of {person}"}, saved_at=NOON)
    about: dict[str, Any] = {"study": study, "session": session, "annotator": session.annotator, "at": NOON}
    Skip.objects.create(question=third, images=[], file_missing=False, **about)
    Report.objects.create(question=third, reason="other", words=f"report of {person}", **about)
    suspicious_arrivals.note(study=study, what=EntryEvent.What.NO_SEAT, person=person, now=NOON)
    GroupMember.objects.create(project=study.project, group="trained", annotator=session.annotator)
    SessionFlag.objects.create(session=session, rule="hidden_tab", evidence={"hidden": 5, "measured": 6}, found_at=NOON)
    recorded: dict[str, Any] = {"project": study.project, "annotator": session.annotator, "at": NOON}
    PersonNote.objects.create(text=f"written on {person}", session=session, **recorded)
    Block.objects.create(reason=f"reason for {person}", **recorded)
    PersonMessage.objects.create(text=f"message to {person}", channel="mail", state_at=NOON, **recorded)
    PanelMember.objects.create(
        **{"project": study.project, "annotator": session.annotator, "added_at": NOON, "address_digest": person},
        sealed_address=seal(f"{person}@example.org"),
    )
    Session.objects.filter(pk=session.pk).update(
        comment=f"comment of {person}", state=SessionState.FINISHED, ended_at=NOON, handed_back_at=NOON
    )
    Payment.objects.create(
        **{"study": study, "annotator": session.annotator, "session": session, "reason": "reward"},
        **{"amount": Decimal("2.00"), "currency": "USD", "ordered_at": NOON, "state_at": NOON},
        note=f"note on {person}",
        ordered_by=make_person(f"payer-of-{person}"),
    )
    at_prolific = ProlificStudy.objects.create(
        study=study, internal_name=person, places=1, reward=1, currency="USD", created_at=NOON
    )
    remote_id = f"remote-id-of-{person}"
    Submission.objects.create(
        **{"prolific_study": at_prolific, "session": session, "status": "APPROVED", "read_at": NOON},
        **{"sealed_id": seal(remote_id), "id_digest": keyed_digest(remote_id, purpose="submission")},
    )


def address(name: str, project: str = "vases") -> str:
    return f"/projects/{project}/people/{name}/data.json"


def as_owner(project: Project) -> Client:
    client = Client()
    client.force_login(make_member(project, "owner", name="olga"))
    return client


def test_the_file_has_all_of_one_person_and_nothing_of_others(study: Study, ann: str) -> None:
    removals.exclude(
        annotator=Annotator.objects.with_id("prolific", ["ann"]).get(),
        project=study.project,
        reason="clicked through",
        by="tests",
        now=NOON,
    )
    response = as_owner(study.project).get(address(ann))
    assert response["Content-Disposition"] == f'attachment; filename="vases-{ann}-data.json"'
    text = response.content.decode()
    data = json.loads(text)
    assert (data["project"], data["annotator"]["provider_id"]) == ("vases", "ann")
    (session,) = data["sessions"]
    assert (session["provider_id"], session["study"]) == ("submission-ann-120000", study.slug)
    assert (session["state"], session["comment"]) == ("finished", "comment of ann")
    assert session["owed"]["currency"] == "USD"
    assert [(each["version"], each["choice"]) for each in data["answers"]] == [(1, "candidate-0"), (2, "candidate-1")]
    assert data["answers"][0]["question"]["instance"] == study.questions.order_by("pk")[0].instance.key
    assert [draft["fields"] for draft in data["drafts"]] == [{"choice": "draft of ann"}]
    assert [(report["reason"], report["words"]) for report in data["reports"]] == [("other", "report of ann")]
    assert [skip["study"] for skip in data["skips"]] == [study.slug]
    assert [(pay["amount"], pay["currency"], pay["note"]) for pay in data["payments"]] == [
        ("2.00", "USD", "note on ann")
    ]
    assert [each["provider_id"] for each in data["submissions"]] == ["remote-id-of-ann"]
    assert [(each["why"], each["reason"]) for each in data["removals"]] == [("excluded", "clicked through")]
    assert [each["group"] for each in data["groups"]] == ["trained"]
    assert [each["address"] for each in data["panels"]] == ["ann@example.org"]
    assert [each["name"] for each in data["pseudonyms"]] == [ann]
    assert [each["what"] for each in data["suspicious_arrivals"]] == ["no_seat"]
    assert [each["what"] for each in data["events"]] == ["annotator excluded", "personal data taken"]
    assert "ben" not in text


def test_the_file_has_no_secrets_of_the_site(study: Study, ann: str) -> None:
    session = Session.objects.with_id("prolific", ["submission-ann-120000"]).get()
    text = as_owner(study.project).get(address(ann)).content.decode()
    for secret in (session.token, session.sealed_id, session.id_digest, study.order_secret, "payer-of-ann"):
        assert secret
        assert secret not in text


def test_each_download_leaves_an_event_without_the_id(study: Study, ann: str) -> None:
    client = as_owner(study.project)
    client.get(address(ann))
    event = Event.objects.get(what="personal data taken")
    person = Annotator.objects.with_id("prolific", ["ann"]).get()
    assert (event.by_name, event.details) == ("olga", {"annotator": person.pk})
    assert f"downloaded the personal data of {ann}" in client.get("/projects/vases/events/").content.decode()


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("editor", 403), ("owner", 200), (None, 404)])
def test_only_owners_get_it(study: Study, ann: str, role: str | None, status: int) -> None:
    client = Client()
    client.force_login(make_member(study.project, role, name="olga") if role else make_person("stranger"))
    assert client.get(address(ann)).status_code == status
    if role:
        assert (address(ann) in client.get(f"/projects/vases/people/{ann}/").content.decode()) == (role == "owner")
    assert Event.objects.filter(what="personal data taken").exists() == (status == 200)


def test_people_of_other_projects_and_unknown_names_are_not_found(study: Study, ann: str) -> None:
    client = as_owner(make_project("jugs"))
    assert client.get(address(ann, "jugs")).status_code == 404
    assert client.get(address(ann)).status_code == 404


def test_an_id_that_no_key_opens_is_a_sentence_in_the_file(settings: Settings, study: Study, ann: str) -> None:
    settings.ENCRYPTION_KEYS = ["a-new-key-of-the-site-0123456789abc"]
    client = as_owner(study.project)
    Annotator.objects.update(sealed_id="lost")
    data = json.loads(client.get(address(ann)).content)
    assert data["annotator"]["problem"].startswith("The id cannot be read. They were encrypted under a key")
    assert len(data["answers"]) == 2


def test_every_table_about_people_is_in_the_file() -> None:
    """Seats name a session, and stand in the file as the questions in them."""
    about = {Annotator, Session}
    tables = {
        model
        for model in apps.get_models()
        for field in model._meta.local_concrete_fields
        if field.related_model in about
    }
    assert tables - {Seat, Session} == {model for model, _ in PARTS.values()}


def test_as_many_queries_for_many_answers_as_for_few(study: Study, ann: str, django_assert_num_queries: Any) -> None:
    client = as_owner(study.project)
    with CaptureQueriesContext(connection) as few:
        client.get(address(ann))
    session = Session.objects.with_id("prolific", ["submission-ann-120000"]).get()
    for question in study.questions.order_by("pk")[1:]:
        answer(session, question, "none", now=NOON + timedelta(minutes=2))
    with django_assert_num_queries(len(few)):
        client.get(address(ann))

"""Requests with an idempotency key: asked again, they are answered the same and do nothing more."""

from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from results.models import Export
from studies.models import Instance, Membership, Project, Study
from tests.factories import NOON, make_launched, make_person, make_project, make_study
from tests.together import at_once
from tests.workspace.api.asking import Script, script_of, token_of
from workspace.models import KeptAnswer

pytestmark = pytest.mark.django_db

STUDIES = "/api/v1/projects/birds/studies/"
EXPORTS = f"{STUDIES}birds-step-3/exports/"
FILE = {"study": "vases", "title": "Which vase?", "kind": "best_of_n"}


def project_of(owner: User) -> Project:
    project = make_project("birds")
    Membership.objects.create(project=project, user=owner, role="owner")
    return project


@pytest.fixture
def script() -> Script:
    owner = make_person("ann")
    project_of(owner)
    return script_of(owner)


def test_the_same_request_is_answered_the_same_and_done_once(script: Script) -> None:
    make_launched(make_study(Project.objects.get()))
    first, second = (script.post(EXPORTS, {"format": "csv"}, Idempotency_Key="one") for _ in range(2))
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json() == second.json()
    assert first["Location"] == second["Location"]
    assert ("Idempotency-Replayed" in first.headers, second["Idempotency-Replayed"]) == (False, "true")
    assert Export.objects.count() == 1
    script.post(EXPORTS, {"format": "csv"}, Idempotency_Key="two")
    script.post(EXPORTS, {"format": "csv"})
    assert Export.objects.count() == 3


def test_a_key_is_for_one_request(script: Script) -> None:
    script.post(STUDIES, FILE, Idempotency_Key="one")
    refused = script.post(STUDIES, FILE | {"study": "maps"}, Idempotency_Key="one")
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:lineup:problem:key-used")
    assert Study.objects.get().slug == "vases"


def test_a_key_is_for_one_token(script: Script) -> None:
    ben = make_person("ben")
    Membership.objects.create(project=Project.objects.get(), user=ben, role="owner")
    script.post(STUDIES, FILE, Idempotency_Key="one")
    # It is not told what the other one was answered: to them the name is taken.
    assert script_of(ben).post(STUDIES, FILE, Idempotency_Key="one").status_code == 409


def test_what_was_refused_may_be_asked_again_with_its_key(script: Script) -> None:
    make_study(Project.objects.get(), slug="vases")
    assert script.post(STUDIES, FILE, Idempotency_Key="one").status_code == 409
    assert not KeptAnswer.objects.exists()
    Study.objects.filter(slug="vases").delete()
    assert script.post(STUDIES, FILE, Idempotency_Key="one").status_code == 201


def test_after_a_day_a_key_is_a_new_one(script: Script) -> None:
    make_launched(make_study(Project.objects.get()))
    with time_machine.travel(NOON, tick=False) as clock:
        fresh = script_of(User.objects.get())
        fresh.post(EXPORTS, {"format": "csv"}, Idempotency_Key="one")
        clock.shift(timedelta(hours=24))
        fresh.post(EXPORTS, {"format": "csv"}, Idempotency_Key="one")
    assert Export.objects.count() == 2
    assert KeptAnswer.objects.count() == 1


@pytest.mark.parametrize("key", ["", "k" * 201])
def test_a_key_has_a_length(script: Script, key: str) -> None:
    assert script.post(STUDIES, FILE, Idempotency_Key=key).status_code == 400


def test_what_a_role_no_longer_allows_is_not_told_again(script: Script) -> None:
    script.post(STUDIES, FILE, Idempotency_Key="one")
    Membership.objects.update(role="viewer")
    assert script.post(STUDIES, FILE, Idempotency_Key="one").status_code == 403


def test_rows_that_are_sent_again_are_told_as_the_first_time(script: Script) -> None:
    def send(text: str, key: str) -> dict[str, int]:
        fields = {"format": "jsonl", "manifest": SimpleUploadedFile("rows.jsonl", text.encode())}
        answer = script.send_form("/api/v1/projects/birds/instances/", fields, Idempotency_Key=key)
        return {name: answer.json().get(name) for name in ("added", "already_there")}

    row = '{"key": "1", "caption": "A vase."}\n'
    assert send(row, "one") == {"added": 1, "already_there": 0}
    assert send(row, "one") == {"added": 1, "already_there": 0}
    assert send(row, "two") == {"added": 0, "already_there": 1}
    assert send(row.replace("1", "2"), "one") == {"added": None, "already_there": None}
    assert Instance.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_one_is_done_and_all_are_answered_the_same() -> None:
    owner = make_person("ann")
    make_launched(make_study(project_of(owner)))
    token = token_of(owner)
    answers = at_once(*[lambda: Script(token).post(EXPORTS, {"format": "csv"}, Idempotency_Key="one")] * 4)
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.content for answer in answers}) == 1
    assert Export.objects.count() == 1

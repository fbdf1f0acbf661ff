"""Large studies launched and extended by script: a job in the background, which the script follows."""

import pytest
from django.contrib.auth.models import User

from annotation.actions.launching import study_jobs
from background.models import Job
from studies.actions.projects.projects import archive_project
from studies.models import Event, Project, Study
from tests.factories import NOON, create_draft, make_member, make_project
from tests.jobs import run_now
from tests.workspace.api.asking import BIRDS, Script, script_of

pytestmark = pytest.mark.django_db
VASES = f"{BIRDS}studies/vases/"


@pytest.fixture
def project(researcher: User) -> Project:
    project = make_project("birds")
    make_member(project, "editor", name="cora")
    project.memberships.get_or_create(user=researcher, role="editor")
    return project


@pytest.fixture
def script(project: Project, researcher: User) -> Script:
    create_draft(project, study="vases", instances=2)
    return script_of(researcher)


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Every launch and extension is large; return the jobs that were sent to a worker."""
    sent: list[Job] = []
    monkeypatch.setattr(study_jobs, "DONE_AT_ONCE", 0)
    monkeypatch.setattr("workspace.api.studies.send", sent.append)
    return sent


def test_a_large_study_is_launched_by_a_job_that_the_script_follows(script: Script, sent: list[Job]) -> None:
    asked = script.post(f"{VASES}launch/")
    assert (asked.status_code, asked["Location"]) == (202, f"http://testserver{VASES}jobs/{sent[0].pk}/")
    assert (asked.json()["kind"], asked.json()["state"], asked.json()["result"]) == ("launch", "waiting", None)
    assert script.get(VASES).json()["state"] == "draft"
    # Once more, because the answer was lost.
    again = script.post(f"{VASES}launch/")
    assert (again.status_code, again.json()["id"], len(sent)) == (202, asked.json()["id"], 1)
    run_now(sent[0])
    assert script.get(asked["Location"]).json()["state"] == "done"
    assert script.get(VASES).json()["state"] == "open"
    assert script.post(f"{VASES}launch/").status_code == 409
    assert Event.objects.filter(what="study launched").count() == 1


def test_a_small_study_is_launched_at_once(script: Script, sent: list[Job], monkeypatch: pytest.MonkeyPatch) -> None:
    # Two questions with one answer each.
    monkeypatch.setattr(study_jobs, "DONE_AT_ONCE", 4)
    assert script.post(f"{VASES}launch/").json()["state"] == "open"
    assert script.post(f"{VASES}more/", {"what": "answers"}).status_code == 200
    assert sent == []


def test_a_launch_that_is_not_possible_says_so_at_once(script: Script, sent: list[Job]) -> None:
    Study.objects.update(state="draft")
    create_draft(Project.objects.get(), study="none", selection={"type": ["no such"]})
    assert script.post(f"{BIRDS}studies/none/launch/").status_code == 409
    assert sent == []


def launched(script: Script, sent: list[Job]) -> None:
    script.post(f"{VASES}launch/")
    run_now(sent.pop())


def test_a_large_extension_is_a_job_with_its_result(script: Script, sent: list[Job]) -> None:
    launched(script, sent)
    seen = script.post(f"{VASES}more/", {"what": "answers", "number": 2, "dry_run": True})
    # One survey of two questions, offered to two more people.
    effects = {"seats": 2, "answers": 4, "questions": 0, "left_out": 0, "decisions": 0, "undone": 0, "restored": 0}
    assert (seen.status_code, seen.json()) == (200, effects | {"untried": ""})
    assert sent == []
    asked = script.post(f"{VASES}more/", {"what": "answers", "number": 2})
    assert (asked.status_code, asked.json()["kind"]) == (202, "extension")
    assert script.post(f"{VASES}more/", {"what": "answers", "number": 2}).json()["id"] == asked.json()["id"]
    other = script.post(f"{VASES}more/", {"what": "answers", "number": 3})
    assert (other.status_code, other.json()["detail"]) == (
        409,
        "The study is being extended. Wait until that is done, or cancel it.",
    )
    assert len(sent) == 1
    run_now(sent[0])
    told = script.get(asked["Location"]).json()
    assert (told["state"], told["result"]) == ("done", effects | {"untried": ""})
    assert Study.objects.get().answers == 3


def test_a_job_is_cancelled_once(script: Script, sent: list[Job]) -> None:
    where = script.post(f"{VASES}launch/")["Location"]
    assert script.post(f"{where}cancel/").json()["state"] == "cancelled"
    assert script.post(f"{where}cancel/").status_code == 409
    run_now(sent[0])
    assert script.get(VASES).json()["state"] == "draft"


def test_of_another_study_or_project_no_job_is_found(script: Script, sent: list[Job]) -> None:
    where = script.post(f"{VASES}launch/")["Location"]
    create_draft(Project.objects.get(), study="pots", instances=0)
    assert script.get(where.replace("/vases/", "/pots/")).status_code == 404
    stranger = script_of(make_member(make_project("fish"), "owner", name="stranger"))
    assert (stranger.get(where).status_code, stranger.post(f"{where}cancel/").status_code) == (404, 404)
    viewer = script_of(make_member(Project.objects.get(slug="birds"), "viewer", name="vera"))
    assert (viewer.get(where).status_code, viewer.post(f"{where}cancel/").status_code) == (200, 403)


def test_in_an_archived_project_nothing_is_launched(script: Script, researcher: User, sent: list[Job]) -> None:
    archive_project(project=Project.objects.get(), by=researcher, now=NOON)
    assert script.post(f"{VASES}launch/").status_code == 403
    assert sent == []

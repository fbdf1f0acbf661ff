"""Deleting a project in Settings, and the home page's demo and protocols."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from pytest_django import Settings

from annotation.models import Slot
from background.models import Job
from simulation.actions import demo_project
from studies.actions.projects.projects import archive_project
from studies.actions.studies import change_state
from studies.models import Membership, Project, ProjectDeletion, Study, StudyState
from studies.permissions import Role
from studies.shipped_designs import shipped_designs
from tests.factories import (
    NOON,
    TESTS,
    answer,
    create_draft,
    launch_study,
    make_member,
    make_person,
    make_project,
    sit_down,
)
from tests.jobs import run_now
from tests.pages import signed_in, words_of

pytestmark = pytest.mark.django_db
DELETE = "/projects/vases/delete/"


@pytest.fixture
def owner() -> User:
    return make_member(make_project(), Role.OWNER, name="ada")


def archived() -> Study:
    study = launch_study(make_project())
    change_state(study=study, to=StudyState.CLOSED, by=TESTS, now=NOON)
    archive_project(project=study.project, by=make_person("operator", superuser=True), now=NOON)
    return study


def test_an_owner_types_the_name_everybody_sees_the_day_and_any_owner_can_cancel(
    owner: User, settings: Settings
) -> None:
    settings.MAIL_FROM = "lineup@example.org"
    other = make_member(make_project(), Role.OWNER, name="ben")
    User.objects.filter(pk__in=[owner.pk, other.pk]).update(email="owners@example.org")
    viewer = make_member(make_project(), Role.VIEWER)
    study = archived()
    browser = signed_in(owner)
    wrong = browser.post(DELETE, {"name": "Vasen"})
    assert wrong.status_code == 409
    assert 'value="Vasen"' in words_of(wrong)
    assert "You typed “Vasen”; the project’s name is “Vases”." in words_of(wrong)
    assert not ProjectDeletion.objects.exists()
    # A second tab sends the same again.
    assert [browser.post(DELETE, {"name": "Vases"}).status_code for _ in range(2)] == [302, 302]
    assert [each.subject for each in mail.outbox] == ["Vases will be deleted"]
    for page in ("/projects/vases/", f"/studies/vases/{study.slug}/", "/projects/vases/members/"):
        notice = words_of(signed_in(viewer).get(page))
        assert "This project will be deleted on" in notice
        assert "An owner can cancel the deletion." in notice
        assert DELETE in words_of(signed_in(other).get(page))
    assert signed_in(viewer).post(f"{DELETE}cancel/").status_code == 403
    assert [signed_in(other).post(f"{DELETE}cancel/").status_code for _ in range(2)] == [302, 302]
    assert len(mail.outbox) == 2
    assert "will be deleted" not in words_of(signed_in(viewer).get("/projects/vases/"))


def test_a_launched_project_is_archived_where_its_deletion_is_explained(owner: User) -> None:
    study = launch_study(make_project(), pay={"currency": "USD", "per_session": "2.00"})
    browser = signed_in(owner)
    page = words_of(browser.get(DELETE))
    assert "Seven days later a job deletes it. Until then every owner can cancel the deletion here." in page
    assert "Owners keep a small file that lists what was deleted" in page
    assert f'Close <a href="/studies/vases/{study.slug}/close/">{study.slug}</a> first' in page
    assert "Archive the project</button>" not in page
    # Opened again in another tab: what keeps it from the archive is said here.
    refused = browser.post("/projects/vases/archive/", {"delete": "1"}, follow=True)
    assert refused.redirect_chain == [(DELETE, 302)]
    assert f"Still open or paused: {study.slug}." in words_of(refused)
    change_state(study=study, to=StudyState.CLOSED, by=TESTS, now=NOON)
    assert 'name="delete" value="1">Archive the project</button>' in words_of(browser.get(DELETE))
    asked = words_of(browser.post("/projects/vases/archive/", {"delete": "1"}, follow=True))
    assert "The project was archived on" in asked
    assert "Delete in seven days" in asked


def test_what_a_project_owes_is_said_before_it_is_archived(owner: User) -> None:
    study = launch_study(make_project(), pay={"currency": "USD", "per_session": "2.00"}, surveys={"size": 1})
    session = sit_down(study, "ann")
    # The last answer ends the session.
    answer(session, Slot.objects.get(seat__session=session).question, "none")
    page = words_of(signed_in(owner).get(DELETE))
    assert f"People are owed money: {study.slug}: USD 2.00 to 1 person." in page


def test_a_double_click_deletes_an_unlaunched_project_once_and_its_owners_keep_the_record(owner: User) -> None:
    create_draft(make_project(), instances=2)
    member = make_member(make_project(), Role.EDITOR)
    browser = signed_in(owner)
    assert [browser.post(DELETE).headers["Location"] for _ in range(2)] == ["/", "/"]
    assert browser.get("/projects/vases/").status_code == 404
    assert "Vases: being deleted." in words_of(browser.get("/"))
    deletion = ProjectDeletion.objects.get()
    record = f"/deleted-projects/{deletion.pk}.json"
    assert browser.get(record).status_code == 404
    assert run_now(Job.objects.get(kind="workspace.delete_project")).state == "done"
    assert record in words_of(browser.get("/"))
    told = json.loads(browser.get(record).content)
    assert (told["project"]["name"], told["rows"]["studies.instance"]) == ("Vases", 2)
    for nobody in (member, make_person("stranger")):
        assert signed_in(nobody).get(record).status_code == 404


@pytest.fixture
def newcomer() -> User:
    return make_person("newcomer")


def test_a_new_account_gets_one_demo_and_is_told_when_no_worker_makes_it(newcomer: User) -> None:
    browser = signed_in(newcomer)
    assert "Create a demo project" in words_of(browser.get("/"))
    assert [browser.post("/demo/").status_code for _ in range(2)] == [302, 302]
    project, job = Project.objects.get(), Job.objects.get()
    assert (project.is_demo, project.memberships.get().role) == (True, "owner")
    home = words_of(browser.get("/"))
    assert f'<p class="muted">{project.slug} · being created</p>' in home, "its events are backdated"
    assert "needs-action" not in home
    assert "No worker has started it yet" not in words_of(browser.get("/demo/progress/"))
    Job.objects.update(asked_at=job.asked_at - demo_project.SOON)
    assert "No worker has started it yet" in words_of(browser.get("/demo/progress/"))
    Job.objects.update(state="done", finished_at=NOON)
    assert browser.get("/demo/progress/").headers["HX-Refresh"] == "true"
    assert f"/projects/{project.slug}/delete/" in words_of(browser.get("/"))


def test_whoever_sees_the_demo_of_somebody_else_gets_one_of_their_own(newcomer: User) -> None:
    signed_in(make_person("ada")).post("/demo/")
    Membership.objects.create(project=Project.objects.get(), user=newcomer, role=Role.VIEWER)
    signed_in(newcomer).post("/demo/")
    assert Project.objects.filter(is_demo=True, memberships__user=newcomer, memberships__role=Role.OWNER).count() == 1


def test_a_demo_that_failed_is_tried_again_in_the_same_project(newcomer: User) -> None:
    browser = signed_in(newcomer)
    browser.post("/demo/")
    Job.objects.update(state="failed", error="The disk is full.", finished_at=NOON)
    assert "The disk is full." in words_of(browser.get("/"))
    browser.post("/demo/")
    assert (Project.objects.count(), Job.objects.filter(state="waiting").count()) == (1, 1)


def test_one_that_is_deleted_while_it_is_made_is_made_no_further(newcomer: User) -> None:
    browser = signed_in(newcomer)
    browser.post("/demo/")
    job = Job.objects.get()
    assert browser.post(f"/projects/{Project.objects.get().slug}/delete/").headers["Location"] == "/"
    job.refresh_from_db()
    assert job.state == "cancelled"
    run_now(Job.objects.get(kind="workspace.delete_project"))
    assert not Project.objects.exists()
    browser.post("/demo/")
    assert Project.objects.get().is_demo


def test_where_only_operators_make_projects_nobody_else_gets_a_demo(newcomer: User, settings: Settings) -> None:
    settings.ANYBODY_MAKES_PROJECTS = False
    assert "demo" not in words_of(signed_in(newcomer).get("/")).lower()
    assert signed_in(newcomer).post("/demo/").status_code == 403


@pytest.mark.parametrize(
    ("then", "place"),
    [("import", "/projects/cats/imports/new/"), ("no-such-protocol", "/projects/cats/"), *(
        (name, f"/projects/cats/new-study/form/?from={name}") for name in ("bivlc-step-3", "imagecode-describe")
    )],
)  # fmt: skip
def test_what_somebody_chose_on_the_home_page_follows_their_new_project(then: str, place: str, newcomer: User) -> None:
    browser = signed_in(newcomer)
    form = browser.get(f"/new-project/?then={then}", follow=True)
    assert f'name="then" value="{then}"' in words_of(form)
    assert browser.post("/new-project/", {"name": "Cats", "then": then}).headers["Location"] == place


def test_a_project_gets_a_short_name_whatever_script_its_name_is_in(newcomer: User) -> None:
    browser = signed_in(newcomer)
    names = ["Cats of 東京", "Café", "x" * 200]
    made = [browser.post("/new-project/", {"name": name}) for name in [*names, "Café"]]
    # The last is the second, sent twice.
    assert [page.status_code for page in made] == [302] * 4
    assert made[1]["Location"] == made[3]["Location"]
    assert [project.slug for project in Project.objects.order_by("pk")] == ["cats-of", "cafe", "x" * 46]


@pytest.mark.parametrize("name", ["我的基准数据集", "مشروع الصور ab"])
def test_a_short_name_that_says_little_is_shown_before_it_is_used(name: str, newcomer: User) -> None:
    browser = signed_in(newcomer)
    asked = browser.post("/new-project/", {"name": name})
    assert asked.status_code == 409
    assert not Project.objects.exists()
    page = asked.content.decode()
    assert 'value="project"' in page
    assert "This is a suggestion, because the name has few Latin letters." in page
    assert browser.get("/new-project/slug/", {"name": name}).json()["slug"] == "project"
    assert browser.get("/new-project/slug/", {"name": name}).json()["reason"].startswith("URLs have Latin letters")
    assert browser.get("/new-project/slug/", {"name": "Birds"}).json() == {"slug": "birds", "reason": ""}
    browser.post("/new-project/", {"name": name, "slug": "images"})
    assert Project.objects.get().slug == "images"


@pytest.mark.parametrize(
    ("name", "told"),
    [("", "Name: It is empty. Write a name, such as Birds and fish."), ("x" * 201, "Write at most 200 characters.")],
)
def test_a_name_that_cannot_be_used_is_the_only_complaint(name: str, told: str, newcomer: User) -> None:
    page = signed_in(newcomer).post("/new-project/", {"name": name}).content.decode()
    assert told in page
    assert "Use letters, digits, hyphens and underscores only." not in page
    assert name in page


def test_a_short_name_that_somebody_else_has_gets_a_number(newcomer: User, owner: User) -> None:
    for person in (owner, newcomer):
        signed_in(person).post("/new-project/", {"name": "Birds"})
    assert [project.slug for project in Project.objects.order_by("pk")][-2:] == ["birds", "birds-2"]


def test_protocols_are_offered_by_name_with_a_picture(newcomer: User) -> None:
    page = words_of(signed_in(newcomer).get("/"))
    assert page.count('<svg class="drawing"') == len(shipped_designs())
    for each in shipped_designs().values():
        assert each.label in page
        assert each.name not in each.label


def test_a_stranger_is_told_of_no_deletion(client: Client, owner: User) -> None:
    archived()
    signed_in(owner).post(DELETE, {"name": "Vases"})
    ProjectDeletion.objects.update(begun_at=NOON + timedelta(days=7))
    client.force_login(make_person("stranger"))
    assert (client.get(DELETE).status_code, client.post(f"{DELETE}cancel/").status_code) == (404, 404)

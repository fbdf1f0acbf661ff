"""Deleting a project leaves the site as it was before the project was there."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.core import mail
from django.core.files.base import ContentFile

from annotation.actions.answering.responses import open_slots
from annotation.actions.arriving.groups import set_group
from annotation.actions.sessions import give_up
from annotation.models import Annotator, Response
from background.models import Job
from making.actions.pipelines import request_pipeline
from predictions.actions.import_predictions import ModelName, import_predictions
from predictions.actions.runs import request_run
from results.actions.exports import make_export, request_export
from results.actions.pseudonyms import name_annotators
from results.actions.releases import freeze_release, prepare_release
from results.exporting.dataset_card import About
from results.models import StoredChart
from simulation.annotators import BrowserInProcess, SimulatedAnnotator, take_part
from studies.actions.imports.import_jobs import request_import
from studies.actions.imports.uploads import ROWS, begin_upload, receive
from studies.actions.projects import projects
from studies.actions.projects.members import permitted_projects
from studies.actions.projects.membership import invite
from studies.actions.projects.tags import tag_instances
from studies.actions.studies import change_state
from studies.errors import StudyError
from studies.models import Event, Image, Import, Project, ProjectDeletion, Study, StudyState
from studies.permissions import Verb
from tests.annotation.test_responses import send
from tests.factories import (
    NOON,
    arrive_at_work,
    create_draft,
    draw_instance,
    launch_study,
    make_person,
    make_project,
)
from tests.jobs import run_now
from tests.predictions.result_files import add_instance, result, write_results
from workspace.actions import project_deletion
from workspace.actions.project_deletion import cancel_deletion, due_jobs, request_deletion
from workspace.actions.tokens import make_token
from workspace.actions.uploaded_images import upload_image
from workspace.actions.webhooks import make_webhook

pytestmark = pytest.mark.django_db
PIPELINE = """name: swaps
start: {role: caption, images: image}
stages:
  - {name: swapped, make: "words:swap"}
  - {name: again, make: "words:swap", of: swapped}
  - {name: mixed, make: "mix:random"}
  - {name: near, make: "nearest:colour-and-gradient", options: {below: 1.0001}}
instances:
  of: again
  captions: {caption: start, negative_caption: again}
  images: {candidate: candidate, mixed: mixed, near: near}
"""
LATER = NOON + timedelta(days=7)
# What the site keeps beside the deletion itself: requests of background work, which name nothing but numbers.
KEPT = {"studies.ProjectDeletion", "studies.ProjectDeletion_owners", "background.Job", "auth.User"}


def everything() -> dict[str, list[Any]]:
    """Return all rows of the site but those that it keeps, by table."""
    models = [each for each in apps.get_models(include_auto_created=True) if each._meta.label not in KEPT]
    return {model._meta.label: list(model._base_manager.order_by("pk").values()) for model in models}


def files() -> set[str]:
    root = Path(settings.MEDIA_ROOT)
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def fill(project: Project, owner: User, folder: Path) -> Study:
    """Do in `project` what leaves rows and files; return its study, which is closed."""
    for number in range(3):
        draw_instance(project, number)
    upload_image(project=project, **_picture(), uploader=owner, now=NOON)
    _, pipeline_job = request_pipeline(project=project, source=PIPELINE, by=owner, now=NOON)
    assert pipeline_job is not None
    run_now(pipeline_job, now=NOON)
    draft = create_draft(project, instances=3, study="second")
    assert draft.state == StudyState.DRAFT
    study = launch_study(project, instances=3, consent="We keep your answers.")
    session = arrive_at_work(study, "ann")
    for slot in open_slots(session=session, limit=2):
        send(session, slot)
    give_up(session=session, now=NOON)
    name_annotators(project=project)
    set_group(project=project, group="lab", provider="prolific", people=["b" * 24], by=owner, now=NOON)
    tag_instances(project=project, instances=[project.instances.first().pk], name="odd", by=owner, now=NOON)  # type: ignore[union-attr]
    invite(project=project, role="viewer", days=7, whom="Ben", by=owner, now=NOON)
    make_webhook(project=project, url="https://93.184.215.14/", topics=["release.made"], by=owner, now=NOON)
    release, _ = prepare_release(study=study, about=About(release="v1"), by=owner, now=NOON)
    freeze_release(release=release, now=NOON)
    for about in (None, release):
        make_export(
            export=request_export(study=study, format="jsonl", by=owner, now=NOON, release=about), now=lambda: NOON
        )
    add_instance(project, 7)
    results = write_results(folder / "BiVLC_CLIP.csv", result(7, "1011"))
    import_predictions(
        project=project, file=results, format="bivlc-results", model=ModelName("CLIP"), by=owner, now=NOON
    )
    request_run(project=project, study=study, spec="open_clip:ViT-B-32/openai", by=owner, now=NOON)
    upload = begin_upload(project, owner, NOON)
    receive(upload, ROWS, "rows.jsonl", ContentFile(b'{"key": "x", "caption": "An x."}\n'), offset=0)
    request_import(project=project, files=[results], format="jsonl", images_dir=None, upload=upload, by=owner, now=NOON)
    StoredChart.objects.create(project=project, digest="0" * 64, values={}, asked_at=NOON)
    make_token(owner=owner, name="script", scope="read", days=7, project=project, now=NOON)
    change_state(study=study, to=StudyState.CLOSED, by=owner, now=NOON)
    projects.archive_project(project=project, by=owner, now=NOON)
    return study


def _picture() -> dict[str, Any]:
    import hashlib

    from tests.workspace.api.test_changing import picture

    data = picture(200)
    return {"sha256": hashlib.sha256(data).hexdigest(), "data": data}


@pytest.fixture
def owner() -> User:
    return make_person("ada")


def owned(owner: User, slug: str = "vases") -> Project:
    return projects.make_project(slug=slug, name="Vases", by=owner, now=NOON)


def run_due(now: Any = LATER) -> list[Job]:
    return [run_now(job, now=now) for job in due_jobs(now=now)]


def test_only_what_other_projects_use_and_a_record_stay(owner: User, tmp_path: Path) -> None:
    other = make_project("birds", members=[owner])
    draw_instance(other, 0)
    arrive_at_work(launch_study(other, instances=1, study="birds"), "ann")
    before, stored = everything(), files()
    project = owned(owner)
    fill(project, owner, tmp_path)
    touched = {name for name, rows in everything().items() if rows != before[name]}
    request_deletion(project=project, name="Vases", pay_settled=True, by=owner, now=NOON)
    (job,) = run_due()
    assert job.state == "done"
    assert everything() == before
    assert files() == stored
    # The test would see a table that is left.
    assert len(touched) > 30, touched
    deletion = ProjectDeletion.objects.get()
    assert (deletion.deleted_at, list(deletion.owners.all())) == (LATER, [owner])
    rows = deletion.record["rows"]
    assert (rows["studies.instance"], rows["annotation.response"], rows["studies.study"]) == (7, 2, 2)
    assert [each["release"] for each in deletion.record["releases"]] == ["v1"]
    assert len(deletion.record["releases"][0]["sha256"]) == 64
    assert run_due(LATER + timedelta(hours=1)) == []


def test_owners_are_told_when_it_is_done(owner: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "MAIL_FROM", "lineup@example.org")
    User.objects.filter(pk=owner.pk).update(email="ada@example.org")
    project = owned(owner)
    fill(project, owner, tmp_path)
    request_deletion(project=project, name="Vases", pay_settled=True, by=owner, now=NOON)
    assert mail.outbox == []
    run_due()
    (told,) = mail.outbox
    assert (told.to, told.subject) == (["ada@example.org"], "Vases was deleted")
    assert f"/deleted-projects/{ProjectDeletion.objects.get().pk}.json" in told.body


def test_nobody_is_told_of_a_project_that_goes_at_once(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "MAIL_FROM", "lineup@example.org")
    User.objects.filter(pk=owner.pk).update(email="ada@example.org")
    request_deletion(project=owned(owner), name="Vases", pay_settled=True, by=owner, now=NOON)
    run_due(NOON)
    assert (ProjectDeletion.objects.get().deleted_at, mail.outbox) == (NOON, [])


class Killed(BaseException):
    """What a worker raises in these tests when it is killed: nothing of Lineup handles it."""


@pytest.mark.parametrize("moment", ["before a batch is stored", "after it is stored"])
def test_killed_again_and_again_it_goes_on_and_ends_as_if_it_had_not_been(
    moment: str, owner: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, stored = everything(), files()
    project = owned(owner)
    fill(project, owner, tmp_path)
    request_deletion(project=project, name="Vases", pay_settled=True, by=owner, now=NOON)
    (job,) = due_jobs(now=LATER)
    monkeypatch.setattr(project_deletion, "BATCH", 2)
    kills = _kill_at_every_third_call(monkeypatch, "_delete_rows" if moment.startswith("before") else "_remove_files")
    for _ in range(200):
        try:
            # The broker hands the message of a lost worker to the next.
            ended = run_now(job, now=LATER, message="the same")
            break
        except Killed:
            continue
    assert ended.state == "done"
    assert len(kills) > 5
    assert everything() == before
    assert files() == stored


def _kill_at_every_third_call(monkeypatch: pytest.MonkeyPatch, name: str) -> list[int]:
    """Let every third call of the function `name` end the worker: after its rows, before its files."""
    real: Callable[..., Any] = getattr(project_deletion, name)
    calls, kills = [0], list[int]()

    def killed(*args: Any) -> Any:
        calls[0] += 1
        if calls[0] % 3 == 0:
            kills.append(calls[0])
            if name == "_delete_rows":
                real(*args)
            raise Killed
        return real(*args)

    monkeypatch.setattr(project_deletion, name, killed)
    return kills


def test_a_project_without_a_launched_study_goes_at_once_and_nobody_sees_it_meanwhile(owner: User) -> None:
    project = owned(owner)
    create_draft(project, instances=2)
    deletion = request_deletion(project=project, name="", pay_settled=False, by=owner, now=NOON)
    assert (deletion.due_at, deletion.begun_at) == (NOON, NOON)
    assert not permitted_projects(owner, Verb.VIEW).exists()
    assert [job.state for job in run_due(NOON)] == ["done"]
    assert not Project.objects.exists()


def test_one_with_a_launched_study_is_archived_first_and_its_name_is_typed(owner: User) -> None:
    project = owned(owner)
    projects.rename_project(project=project, name="Café", by=owner, now=NOON)
    study = launch_study(project)

    def ask(name: str) -> None:
        request_deletion(project=project, name=name, pay_settled=False, by=owner, now=NOON)

    with pytest.raises(StudyError, match="Archive the project first"):
        ask("Café")
    change_state(study=study, to=StudyState.CLOSED, by=owner, now=NOON)
    projects.archive_project(project=project, by=owner, now=NOON)
    for wrong in ("", "café", "Vases", "Cafe", "C\u0430f\u00e9"):
        with pytest.raises(StudyError, match="the project’s name is “Café”"):
            ask(wrong)
    # The same letters, composed otherwise, as some keyboards do.
    ask(" Cafe\u0301 ")
    assert run_due(LATER - timedelta(seconds=1)) == []
    assert [job.state for job in run_due(LATER)] == ["done"]


def closed_and_archived(owner: User, *, answers: int = 0) -> Project:
    """Return an archived project in which Ann gave `answers` in a session that has ended."""
    project = owned(owner)
    study = launch_study(project, pay={"currency": "USD", "per_session": "1.00", "per_answer": "0.10"})
    if answers:
        session = arrive_at_work(study)
        for slot in open_slots(session=session, limit=answers):
            send(session, slot)
        give_up(session=session, now=NOON)
    change_state(study=study, to=StudyState.CLOSED, by=owner, now=NOON)
    projects.archive_project(project=project, by=owner, now=NOON)
    return project


def test_what_people_are_owed_is_named_until_an_owner_says_that_it_is_settled(owner: User) -> None:
    project = closed_and_archived(owner, answers=2)
    with pytest.raises(StudyError, match=r"best-vase: USD 0\.20 to 1 person"):
        request_deletion(project=project, name="Vases", pay_settled=False, by=owner, now=NOON)
    deletion = request_deletion(project=project, name="Vases", pay_settled=True, by=owner, now=NOON)
    assert deletion.pay_settled.startswith("best-vase: USD 0.20 to 1 person")
    told = Event.objects.filter(what="project deletion requested").get().details
    assert told["pay_settled"] == deletion.pay_settled


def test_while_somebody_answers_it_is_neither_asked_for_nor_begun(owner: User) -> None:
    project = closed_and_archived(owner)
    request_deletion(project=project, name="Vases", pay_settled=False, by=owner, now=NOON)
    session = arrive_at_work(launch_study(project, study="late", instances=4))
    assert due_jobs(now=LATER) == []
    cancel_deletion(project=project, by=owner, now=NOON)
    with pytest.raises(StudyError, match="1 person is still answering in late"):
        request_deletion(project=project, name="Vases", pay_settled=False, by=owner, now=NOON)
    give_up(session=session, now=NOON)
    request_deletion(project=project, name="Vases", pay_settled=False, by=owner, now=NOON)
    assert len(due_jobs(now=LATER)) == 1


def test_asked_for_twice_it_is_one_deletion_that_can_be_cancelled_until_it_begins(owner: User) -> None:
    project = closed_and_archived(owner)
    asked: dict[str, Any] = {"project": project, "name": "Vases", "pay_settled": False, "by": owner}
    first = request_deletion(**asked, now=NOON)
    assert request_deletion(**asked, now=NOON + timedelta(days=1)) == first
    with pytest.raises(StudyError, match="Cancel the deletion first"):
        projects.reopen_project(project=project, by=owner, now=NOON)
    assert cancel_deletion(project=project, by=owner, now=NOON)
    assert not cancel_deletion(project=project, by=owner, now=NOON)
    projects.reopen_project(project=project, by=owner, now=NOON)
    assert due_jobs(now=LATER) == []
    projects.archive_project(project=project, by=owner, now=NOON)
    request_deletion(**asked, now=NOON)
    due_jobs(now=LATER)
    assert not cancel_deletion(project=project, by=owner, now=LATER)


def test_a_running_import_is_cancelled_before_the_deletion_begins_its_work(owner: User, tmp_path: Path) -> None:
    project = owned(owner)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"key": "x", "caption": "An x."}\n')
    wanted = request_import(project=project, files=[rows], format="jsonl", images_dir=None, by=owner, now=NOON)
    running = Job.objects.filter(kind="studies.import", arguments={"import": wanted.pk})
    assert running.update(state="running", started_at=NOON, beat_at=NOON, attempts=1) == 1
    request_deletion(project=project, name="", pay_settled=False, by=owner, now=NOON)
    assert due_jobs(now=NOON) == []
    assert running.get().cancel_asked_at == NOON
    running.update(state="cancelled", finished_at=NOON)
    assert [job.state for job in run_due(NOON)] == ["done"]
    assert not Import.objects.exists()


def test_rows_that_somebody_adds_meanwhile_are_deleted_too(owner: User, monkeypatch: pytest.MonkeyPatch) -> None:
    project = owned(owner)
    draw_instance(project, 1)
    request_deletion(project=project, name="", pay_settled=False, by=owner, now=NOON)
    real, added = project_deletion._finish, list[int]()

    def late(*args: Any) -> bool:
        if len(added) < 2:
            added.append(draw_instance(project, 10 + len(added)).pk)
        return real(*args)

    monkeypatch.setattr(project_deletion, "_finish", late)
    assert [job.state for job in run_due(NOON)] == ["done"]
    assert (Project.objects.count(), Image.objects.count(), files()) == (0, 0, set())


def answered_demo(owner: User) -> Project:
    """Return a demo with an open study, in which a program has answered; a place is left."""
    project = owned(owner)
    Project.objects.filter(pk=project.pk).update(is_demo=True)
    take_part(
        browser=BrowserInProcess(),
        study=launch_study(project, answers=2),
        person=SimulatedAnnotator(number=0, seed="demo", accuracy=0.9),
    )
    assert Response.objects.exists()
    return Project.objects.get()


def test_a_demo_goes_at_once_and_lets_nobody_in_any_more(owner: User) -> None:
    request_deletion(project=answered_demo(owner), name="", pay_settled=False, by=owner, now=NOON)
    assert Study.objects.get().state == StudyState.CLOSED
    assert [job.state for job in run_due(NOON)] == ["done"]
    assert not Annotator.objects.exists()


def test_one_in_which_a_person_has_answered_goes_as_any_other_project(owner: User) -> None:
    demo = answered_demo(owner)
    arrive_at_work(Study.objects.get())
    with pytest.raises(StudyError, match="Archive the project first"):
        request_deletion(project=demo, name="", pay_settled=False, by=owner, now=NOON)

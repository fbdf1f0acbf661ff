"""The demo project of one person, made by a job."""

from typing import Any

import pytest
from django.test import Client

from annotation.models import Annotator, Session
from background.models import Job
from predictions.models import Run
from results.queries.studies.simulated_answers import simulated_in_project
from simulation import annotators
from simulation.actions.demo_project import STAGES, demo_of, request_demo
from studies.models import Event, Image, Project, Study
from tests.factories import NOON, make_person
from tests.jobs import run_now
from workspace.actions.project_deletion import due_jobs, request_deletion

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(600)]


class Killed(BaseException):
    """What a worker raises in these tests when it is killed: nothing of Lineup handles it."""


def test_a_worker_that_is_killed_is_followed_by_one_that_goes_on_and_the_demo_goes_without_a_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ada = make_person("ada")
    demo, job = request_demo(by=ada, now=NOON)
    assert job is not None
    assert (request_demo(by=ada, now=NOON)[1], Project.objects.count()) == (None, 1)
    _kill_within_a_session(monkeypatch, answers=[5, 60, 150])
    kills = 0
    while True:
        try:
            run_now(job, message="the same")
            break
        except Killed:
            kills += 1
    assert (job.state, job.error, kills) == ("done", "", 3)
    for study in Study.objects.all():
        sessions = Session.objects.filter(study=study)
        # The last to come may find nothing left.
        assert 2 <= sessions.count() <= STAGES[study.slug]
        assert set(sessions.values_list("state", flat=True)) <= {"finished", "given_up"}
        assert all(0 < each.questions_answered <= each.questions_total for each in sessions)
    assert Event.objects.filter(what="answers simulated").count() == len(STAGES)
    assert Run.objects.get().state == "done"
    assert simulated_in_project(demo.project)
    found = demo_of(ada)
    assert found is not None
    assert found.is_made
    # Again, it is there: nothing is made anew.
    before = Session.objects.count()
    Job.objects.filter(pk=job.pk).update(state="waiting", finished_at=None)
    assert run_now(job).state == "done"
    assert Session.objects.count() == before
    _looks_right(ada)
    request_deletion(project=demo.project, name="", pay_settled=False, by=ada, now=NOON)
    (deletion,) = due_jobs(now=NOON)
    assert run_now(deletion).state == "done"
    assert not any(model.objects.exists() for model in (Project, Image, Annotator, Session))


def _kill_within_a_session(monkeypatch: pytest.MonkeyPatch, *, answers: list[int]) -> None:
    """End the worker before these answers, and leave the session as it is: no handler runs in a killed process."""
    real, given = annotators._SENDERS["answer"], [0]

    def answer(visit: Any, form: Any) -> Any:
        given[0] += 1
        if given[0] in answers:
            raise Killed
        return real(visit, form)

    monkeypatch.setitem(annotators._SENDERS, "answer", answer)
    monkeypatch.setattr(annotators, "_release_place", lambda **_: None)


def _looks_right(ada: Any) -> None:
    browser = Client()
    browser.force_login(ada)
    (project,) = Project.objects.all()
    for page in ("/", f"/projects/{project.slug}/", f"/projects/{project.slug}/results/"):
        assert browser.get(page).status_code == 200
    assert "Simulated" in browser.get(f"/projects/{project.slug}/").content.decode()

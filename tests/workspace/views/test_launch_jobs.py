"""The launch of a large study from its page: a job with a bar, all or nothing."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from annotation.actions.launching import study_jobs
from annotation.models import Seat
from background import live_progress
from background.live_progress import LiveProgress
from background.models import Job, JobState
from studies.models import Event, Membership, Study, StudyState
from tests.factories import NOON, make_member, make_person
from tests.jobs import run_now
from tests.pages import signed_in, words_of
from workspace.actions.project_deletion import due_jobs, request_deletion

PAGE = "/studies/birds/birds-step-3/"


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Every launch is large; return the jobs that were sent to a worker."""
    sent: list[Job] = []
    monkeypatch.setattr(study_jobs, "DONE_AT_ONCE", 0)
    monkeypatch.setattr("workspace.views.studies.study.send", sent.append)
    return sent


def press_launch(client: Client) -> Any:
    return client.post(f"{PAGE}launch/", follow=True)


def state(study: Study) -> str:
    study.refresh_from_db()
    return study.state


def test_a_large_study_is_launched_by_a_job_that_the_page_follows(
    client: Client, draft: Study, researcher: User, sent: list[Job]
) -> None:
    page = press_launch(client)
    assert page.redirect_chain == [(PAGE, 302)]
    assert "<strong>The study is being launched.</strong>" in words_of(page)
    assert "Waiting for the worker" in words_of(page)
    assert state(draft) == StudyState.DRAFT
    assert f"Launch of {draft.title}" in words_of(client.get("/jobs/"))
    fragment = client.get(f"{PAGE}job/")
    assert 'hx-trigger="every 2s"' in fragment.content.decode()
    (job,) = sent
    assert run_now(job).state == JobState.DONE
    assert (state(draft), draft.questions.count(), Seat.objects.count()) == (StudyState.OPEN, 4, 1)
    event = Event.objects.get(what="study launched")
    assert (event.by_name, event.study) == (researcher.get_username(), draft)
    assert client.get(f"{PAGE}job/")["HX-Refresh"] == "true"
    assert f"Launch of {draft.title}" in words_of(client.get("/jobs/"))


def test_the_bar_of_a_launch_says_how_many_questions_are_made(
    client: Client, draft: Study, sent: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of its transaction are hidden from everybody until it ends, so the worker says it in a file."""
    seen = []

    def look(*_: Any) -> None:
        seen.append(words_of(client.get("/jobs/")))

    press_launch(client)
    monkeypatch.setattr("studies.actions.studies.check_conditions", look)
    run_now(sent[0])
    (page,) = seen
    assert '<progress value="4" max="4"' in page
    assert "Filling surveys: 4 of 4" in page
    assert not any((Path(settings.MEDIA_ROOT) / "progress").iterdir())


def test_what_a_lost_worker_said_is_not_shown_for_the_next(client: Client, draft: Study, sent: list[Job]) -> None:
    press_launch(client)
    Job.objects.update(state=JobState.RUNNING, attempts=1, started_at=NOON, beat_at=NOON)
    live_progress.write(Job.objects.get(), LiveProgress("Creating questions", 3, 4))
    page = words_of(client.get(f"{PAGE}job/"))
    assert '<progress value="3" max="4"' in page
    assert "Creating questions: 3 of 4" in page
    Job.objects.update(attempts=2)
    assert "Creating questions: 3 of 4" not in words_of(client.get(f"{PAGE}job/"))
    Job.objects.update(attempts=1, state=JobState.WAITING)
    assert "Waiting for the worker" in words_of(client.get(f"{PAGE}job/"))


def test_a_small_study_is_launched_at_once(
    client: Client, draft: Study, sent: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_jobs, "DONE_AT_ONCE", 8)
    press_launch(client)
    assert (state(draft), sent) == (StudyState.OPEN, [])


def test_pressed_twice_it_is_one_job(client: Client, draft: Study, sent: list[Job]) -> None:
    press_launch(client)
    for page in (press_launch(client), client.get(f"{PAGE}launch/", follow=True)):
        assert "The study is being launched." in words_of(page)
    assert Job.objects.count() == len(sent) == 1
    assert state(draft) == StudyState.DRAFT


def test_a_doubled_message_and_a_lost_worker_launch_it_once(client: Client, draft: Study, sent: list[Job]) -> None:
    press_launch(client)
    run_now(sent[0])
    # As if its worker had been lost after the launch, before it could say so.
    Job.objects.update(state=JobState.WAITING, finished_at=None)
    assert run_now(sent[0]).state == JobState.DONE
    assert (draft.questions.count(), Event.objects.filter(what="study launched").count()) == (4, 1)


def test_a_draft_that_was_changed_meanwhile_is_not_launched(client: Client, draft: Study, sent: list[Job]) -> None:
    press_launch(client)
    Study.objects.filter(pk=draft.pk).update(source=f"{draft.source}\n# another answer\n")
    assert run_now(sent[0]).state == JobState.FAILED
    assert state(draft) == StudyState.DRAFT
    page = words_of(client.get(PAGE))
    assert "The last launch failed. The draft was changed after its launch was confirmed." in page
    # It can be launched as it is now.
    press_launch(client)
    run_now(sent[1])
    assert state(draft) == StudyState.OPEN


def test_somebody_who_may_no_longer_launch_does_not(client: Client, draft: Study, sent: list[Job]) -> None:
    press_launch(client)
    Membership.objects.update(role="viewer")
    assert run_now(sent[0]).error == "researcher may no longer launch studies in this project."
    assert state(draft) == StudyState.DRAFT


def test_the_deletion_of_the_project_cancels_a_waiting_launch(
    client: Client, draft: Study, sent: list[Job], researcher: User
) -> None:
    press_launch(client)
    Membership.objects.update(role="owner")
    request_deletion(project=draft.project, name=draft.project.name, pay_settled=True, by=researcher, now=NOON)
    for job in due_jobs(now=NOON):
        run_now(job, now=NOON)
    sent[0].refresh_from_db()
    assert sent[0].state == JobState.CANCELLED
    assert not Study.objects.exists()


def test_a_draft_that_was_deleted_meanwhile_fails_with_a_sentence(
    client: Client, draft: Study, sent: list[Job]
) -> None:
    press_launch(client)
    draft.delete()
    assert run_now(sent[0]).error == "The study was deleted before it was launched."


def test_a_problem_that_arose_meanwhile_is_said_and_nothing_is_launched(
    client: Client, draft: Study, sent: list[Job]
) -> None:
    press_launch(client)
    draft.project.instances.all().delete()
    failed = run_now(sent[0])
    assert (failed.state, state(draft), Seat.objects.count()) == (JobState.FAILED, StudyState.DRAFT, 0)
    assert failed.error == "Project birds has no instances. Import some first."


def test_a_problem_that_is_there_already_is_said_at_once(client: Client, draft: Study, sent: list[Job]) -> None:
    draft.project.instances.all().delete()
    page = client.post(f"{PAGE}launch/")
    assert (page.status_code, sent) == (409, [])


def test_a_cancelled_launch_changes_nothing(client: Client, draft: Study, sent: list[Job]) -> None:
    press_launch(client)
    Job.objects.update(cancel_asked_at=NOON, state=JobState.RUNNING, attempts=1, started_at=NOON, beat_at=NOON)
    assert run_now(sent[0]).state != JobState.DONE
    assert state(draft) == StudyState.DRAFT


def test_without_a_worker_the_page_says_whom_to_ask(client: Client, draft: Study) -> None:
    press_launch(client)
    assert "No worker has started it yet" not in words_of(client.get(PAGE))
    Job.objects.update(asked_at=NOON - timedelta(days=999))
    assert "No worker has started it yet" in words_of(client.get(PAGE))
    assert draft.state == StudyState.DRAFT


@pytest.mark.usefixtures("draft")
def test_a_stranger_sees_no_progress_and_launches_nothing(client: Client, sent: list[Job]) -> None:
    press_launch(client)
    stranger = signed_in(make_person("stranger"))
    assert stranger.get(f"{PAGE}job/").status_code == 404
    assert stranger.post(f"{PAGE}launch/").status_code == 404
    assert len(sent) == 1
    assert "Launch of" not in words_of(stranger.get("/jobs/"))


def test_a_waiting_launch_can_be_cancelled_and_asked_for_again(client: Client, draft: Study, sent: list[Job]) -> None:
    page = press_launch(client)
    assert "Cancel the launch</button>" in words_of(page)
    page = client.post(f"{PAGE}job/cancel/", follow=True)
    assert page.redirect_chain == [(PAGE, 302)]
    assert "The study is being launched." not in words_of(page)
    assert (run_now(sent[0]).state, state(draft)) == (JobState.CANCELLED, StudyState.DRAFT)
    assert Event.objects.get(what="launch cancelled").by_name == "researcher"
    assert "It has already ended, so there was nothing to cancel." in words_of(
        client.post(f"{PAGE}job/cancel/", follow=True)
    )
    press_launch(client)
    run_now(sent[1])
    assert state(draft) == StudyState.OPEN


def test_a_running_launch_says_that_it_is_being_cancelled(client: Client, draft: Study) -> None:
    press_launch(client)
    Job.objects.update(state=JobState.RUNNING, attempts=1, started_at=NOON, beat_at=NOON)
    for _ in range(2):
        page = words_of(client.post(f"{PAGE}job/cancel/", follow=True))
        assert "Cancelling" in page
        assert "Cancel the launch</button>" not in page
    assert Event.objects.filter(what="launch cancelled", study=draft).count() == 1


@pytest.mark.usefixtures("sent")
def test_a_viewer_sees_a_launch_and_cannot_cancel_it(client: Client, draft: Study) -> None:
    press_launch(client)
    viewer = signed_in(make_member(draft.project, "viewer"))
    page = words_of(viewer.get(PAGE))
    assert "The study is being launched." in page
    assert "Cancel the launch</button>" not in page
    assert viewer.post(f"{PAGE}job/cancel/").status_code == 403
    assert Job.objects.get().state == JobState.WAITING


WAITS = "Its launch is waiting. Cancel the launch to change the study."
# Where a draft is changed, and what is typed there.
FORMS = {
    "file": {"source": "study: birds-step-3\ntitle: Typed\nkind: best_of_n\n"},
    "form": {"source": "study: birds-step-3\ntitle: Before\nkind: best_of_n\n", "title": "Typed"},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_draft_does_not_change_while_its_launch_waits_and_keeps_what_was_typed(
    form: str, client: Client, draft: Study, sent: list[Job]
) -> None:
    press_launch(client)
    refused = client.post(f"{PAGE}{form}/", FORMS[form])
    assert refused.status_code == 409
    assert WAITS in words_of(refused)
    assert "Typed" in words_of(refused)
    assert "Cancel the launch and save</button>" in words_of(refused)
    assert Study.objects.get().source == draft.source
    # Running, it is only asked to stop.
    Job.objects.update(state=JobState.RUNNING, attempts=1, started_at=NOON, beat_at=NOON)
    refused = client.post(f"{PAGE}{form}/", FORMS[form] | {"cancel_launch": "yes"})
    assert refused.status_code == 409
    assert "Its launch is being cancelled. Try again in a minute." in words_of(refused)
    assert "Typed" in words_of(refused)
    Job.objects.update(state=JobState.WAITING, cancel_asked_at=None)
    assert client.post(f"{PAGE}{form}/", FORMS[form] | {"cancel_launch": "yes"}).status_code == 302
    assert Study.objects.get().title == "Typed"
    assert run_now(sent[0]).state == JobState.CANCELLED


def test_the_pages_of_a_draft_whose_launch_waits_say_so(client: Client, draft: Study) -> None:
    page = words_of(client.get(PAGE))
    assert "Save the study file</button>" in page
    assert "Save</button>" in words_of(client.get(f"{PAGE}form/"))
    press_launch(client)
    page = words_of(client.get(PAGE))
    assert "Save the study file</button>" not in page
    assert " readonly>" in page
    for form in ("form", "practice"):
        assert WAITS in words_of(client.get(f"{PAGE}{form}/"))
    assert "Cancel the launch and save</button>" in words_of(client.get(f"{PAGE}form/"))
    assert WAITS in words_of(client.post(f"{PAGE}delete/"))
    assert Study.objects.get() == draft


def test_a_practice_question_is_added_once_the_launch_is_cancelled(client: Client, draft: Study) -> None:
    Study.objects.update(source=FORMS["file"]["source"])
    press_launch(client)
    instance = draft.project.instances.order_by("pk")[0]
    picked = {"pick": str(instance.pk), "right": "none", "feedback": "Typed"}
    refused = client.post(f"{PAGE}practice/", picked)
    assert refused.status_code == 409
    assert WAITS in words_of(refused)
    assert "Typed</textarea>" in words_of(refused)
    assert client.post(f"{PAGE}practice/", picked | {"cancel_launch": "yes"}).status_code == 302
    assert Study.objects.get().design.practice.questions[0].feedback == "Typed"

import json
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.http import FileResponse
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from background.jobs import fail
from background.models import Job, JobState
from background.tasks import run_job
from results.models import Export
from studies.models import Study
from tests.factories import NOON, answer, make_person, questions, sit_down
from tests.jobs import run_now
from tests.pages import signed_in

ASK = "/studies/birds/birds-step-3/exports/"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the ids of the jobs that are sent."""
    ids: list[int] = []
    monkeypatch.setattr(run_job, "apply_async", lambda args, kwargs, **options: ids.append(*args))
    return ids


def make(export: Export) -> None:
    """Let a worker make it, after the one that had it was lost."""
    assert export.job
    Job.objects.update(state=JobState.WAITING)
    assert run_now(export.job).state == JobState.DONE


def running_for(export: Export, **news: int) -> None:
    """Let a worker have begun it."""
    assert export.job
    Job.objects.update(state=JobState.RUNNING, attempts=1, started_at=NOON, beat_at=NOON, **news)


def ask(client: Client, capture: DjangoCaptureOnCommitCallbacks, **form: str) -> Any:
    with capture(execute=True):
        return client.post(ASK, form, follow=True)


def test_asking_notes_the_export_and_sends_its_task_after_the_commit(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    response = ask(client, django_capture_on_commit_callbacks, format="csv")
    export = Export.objects.get()
    assert export.job
    assert sent == [export.job.pk]
    assert (export.format, export.job.state, export.study) == ("csv", JobState.WAITING, study)
    assert export.job.requested_by == export.requested_by
    assert export.requested_by
    assert export.requested_by.username == "researcher"
    assert "Waiting for the worker" in response.content.decode()


@pytest.mark.both
@pytest.mark.parametrize("format", ["../../etc/passwd", "a\0b", "x" * 5000, ""])
def test_an_unknown_format_is_refused_in_words(
    format: str,
    client: Client,
    study: Study,
    sent: list[int],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    response = ask(client, django_capture_on_commit_callbacks, format=format)
    assert f"There is no export format called {format}. Choose one of" in response.content.decode()
    assert not Export.objects.exists()
    assert sent == []


def test_the_line_of_an_export_asks_for_itself_until_it_is_made(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    answer(sit_down(study, "one"), questions(study)[0], "candidate-1")
    ask(client, django_capture_on_commit_callbacks, format="jsonl")
    export = Export.objects.get()
    address = f"/exports/{export.pk}/"
    running_for(export, done=3, total=7)
    running = client.get(address).content.decode()
    assert "3 of 7 rows" in running
    assert f'hx-get="{address}"' in running
    assert '<progress value="3" max="7"' in running
    make(export)
    made = client.get(address).content.decode()
    assert "hx-get" not in made
    assert f'href="{address}download/"' in made
    assert "1 row<" in made


def test_a_failed_export_tells_why_and_cannot_be_downloaded(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    ask(client, django_capture_on_commit_callbacks, format="jsonl")
    fail(job=Job.objects.get(), error="The disk is full.", now=NOON)
    address = f"/exports/{Export.objects.get().pk}/"
    assert "The disk is full." in client.get(address).content.decode()
    assert client.get(f"{address}download/").status_code == 404


def test_the_download_is_the_file_under_a_safe_name(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    answer(sit_down(study, "one"), questions(study)[0], "candidate-1")
    ask(client, django_capture_on_commit_callbacks, format="jsonl")
    export = Export.objects.get()
    make(export)
    response = client.get(f"/exports/{export.pk}/download/")
    assert isinstance(response, FileResponse)
    assert response["Content-Disposition"] == 'attachment; filename="birds-step-3-instances.jsonl"'
    assert response["X-Content-Type-Options"] == "nosniff"
    lines = b"".join(response).decode().splitlines()
    assert [json.loads(line)["key"] for line in lines] == ["row-1"]


def test_a_file_that_is_gone_is_not_found(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    ask(client, django_capture_on_commit_callbacks, format="jsonl")
    export = Export.objects.get()
    make(export)
    export.refresh_from_db()
    default_storage.delete(export.file)
    assert client.get(f"/exports/{export.pk}/download/").status_code == 404


def test_one_that_waits_is_cancelled_at_once(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    page = ask(client, django_capture_on_commit_callbacks, format="jsonl").content.decode()
    address = f"/exports/{Export.objects.get().pk}/cancel/"
    assert f'action="{address}"' in page
    page = client.post(address, follow=True).content.decode()
    assert "It was cancelled." in page
    assert address not in page
    assert run_now(Job.objects.get()).state == JobState.CANCELLED
    assert Export.objects.get().file == ""


def test_one_that_runs_says_that_it_is_being_cancelled_until_its_worker_has_stopped(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    ask(client, django_capture_on_commit_callbacks, format="jsonl")
    export = Export.objects.get()
    running_for(export)
    page = client.post(f"/exports/{export.pk}/cancel/", follow=True).content.decode()
    assert "Being cancelled" in page
    assert "cancel/" not in page


def test_what_is_over_cannot_be_cancelled(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    ask(client, django_capture_on_commit_callbacks, format="jsonl")
    export = Export.objects.get()
    make(export)
    page = client.post(f"/exports/{export.pk}/cancel/", follow=True).content.decode()
    assert "This export is over already, so there was nothing to cancel." in page
    export.refresh_from_db()
    assert export.is_ready


def test_a_stranger_cancels_nothing(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    ask(client, django_capture_on_commit_callbacks, format="jsonl")
    stranger = signed_in(make_person("stranger"))
    assert stranger.post(f"/exports/{Export.objects.get().pk}/cancel/").status_code == 404
    assert Job.objects.get().state == JobState.WAITING


def test_a_line_that_asks_for_itself_is_replaced_whole_once_it_is_over(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    """Until then only the progress is, so that a button beside it is never pulled from under a finger."""
    ask(client, django_capture_on_commit_callbacks, format="jsonl")
    export = Export.objects.get()
    address = f"/exports/{export.pk}/"
    waiting = client.get(address)
    assert "HX-Retarget" not in waiting
    assert "<li" not in waiting.content.decode()
    make(export)
    made = client.get(address)
    assert (made["HX-Retarget"], made["HX-Reswap"]) == (f"#export-{export.pk}", "outerHTML")
    assert f'<li id="export-{export.pk}"' in made.content.decode()


def test_one_that_the_version_before_was_asked_for_waits_and_can_be_cancelled(client: Client, study: Study) -> None:
    """While this version comes in: it has no job yet."""
    export = Export.objects.create(project=study.project, study=study, format="csv", requested_at=NOON)
    assert "Waiting for the worker" in client.get(f"/exports/{export.pk}/").content.decode()
    page = client.post(f"/exports/{export.pk}/cancel/", follow=True).content.decode()
    assert "It was cancelled." in page

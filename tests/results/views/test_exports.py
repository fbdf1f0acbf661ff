import json
from collections.abc import Callable
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


@pytest.fixture
def ask(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Callable[[str], Any]:
    def request(format: str) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return client.post(ASK, {"format": format}, follow=True)

    return request


@pytest.fixture
def export(study: Study, ask: Callable[[str], Any]) -> Export:
    """An export of one accepted instance, which waits for its worker."""
    answer(sit_down(study, "one"), questions(study)[0], "candidate-1")
    ask("jsonl")
    return Export.objects.get()


def make(export: Export) -> None:
    """Let a worker make it, after the one that had it was lost."""
    assert export.job
    Job.objects.update(state=JobState.WAITING)
    assert run_now(export.job).state == JobState.DONE
    export.refresh_from_db()


def begin() -> None:
    """Let a worker have begun it."""
    Job.objects.update(state=JobState.RUNNING, attempts=1, started_at=NOON, beat_at=NOON, done=3, total=7)


def text_of(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def cancel(client: Client, export: Export) -> str:
    return client.post(f"/exports/{export.pk}/cancel/", follow=True).content.decode()


def test_human_stages_notes_the_export_and_sends_its_task_after_the_commit(
    study: Study, sent: list[int], ask: Callable[[str], Any]
) -> None:
    assert "Waiting for the worker" in ask("csv").content.decode()
    export = Export.objects.get()
    assert export.job
    assert export.requested_by
    assert sent == [export.job.pk]
    assert (export.format, export.job.state, export.study) == ("csv", JobState.WAITING, study)
    assert (export.job.requested_by, export.requested_by.username) == (export.requested_by, "researcher")


@pytest.mark.both
@pytest.mark.parametrize("format", ["../../etc/passwd", "a\0b", "x" * 5000, ""])
def test_an_unknown_format_is_refused_in_words(format: str, sent: list[int], ask: Callable[[str], Any]) -> None:
    assert f"There is no export format called {format}. Choose one of" in ask(format).content.decode()
    assert not Export.objects.exists()
    assert sent == []


def test_the_line_of_an_export_asks_for_itself_until_it_is_made_and_is_then_replaced_whole(
    client: Client, export: Export
) -> None:
    """Until then only the progress is, so that a button beside it is never pulled from under a finger."""
    address = f"/exports/{export.pk}/"
    begin()
    running = client.get(address)
    page = running.content.decode()
    assert "HX-Retarget" not in running
    assert "<li" not in page
    assert "3 of 7 rows" in page
    assert f'hx-get="{address}"' in page
    assert '<progress value="3" max="7"' in page
    make(export)
    made = client.get(address)
    page = made.content.decode()
    assert (made["HX-Retarget"], made["HX-Reswap"]) == (f"#export-{export.pk}", "outerHTML")
    assert f'<li id="export-{export.pk}"' in page
    assert "hx-get" not in page
    assert f'href="{address}download/"' in page
    assert "1 row<" in page


def test_a_failed_export_tells_why_and_cannot_be_downloaded(client: Client, export: Export) -> None:
    fail(job=Job.objects.get(), error="The disk is full.", now=NOON)
    assert "The disk is full." in text_of(client, f"/exports/{export.pk}/")
    assert client.get(f"/exports/{export.pk}/download/").status_code == 404


def test_the_download_is_the_file_under_a_safe_name_while_it_is_there(client: Client, export: Export) -> None:
    make(export)
    response = client.get(f"/exports/{export.pk}/download/")
    assert isinstance(response, FileResponse)
    assert response["Content-Disposition"] == 'attachment; filename="birds-step-3-instances.jsonl"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert [json.loads(line)["key"] for line in b"".join(response).decode().splitlines()] == ["row-1"]
    default_storage.delete(export.file)
    assert client.get(f"/exports/{export.pk}/download/").status_code == 404


def test_one_that_waits_is_cancelled_at_once(client: Client, export: Export) -> None:
    address = f"/exports/{export.pk}/cancel/"
    assert f'action="{address}"' in text_of(client, ASK)
    page = cancel(client, export)
    assert "It was cancelled." in page
    assert address not in page
    assert run_now(Job.objects.get()).state == JobState.CANCELLED
    assert Export.objects.get().file == ""


def test_one_that_runs_says_that_it_is_being_cancelled_until_its_worker_has_stopped(
    client: Client, export: Export
) -> None:
    begin()
    page = cancel(client, export)
    assert "Cancelling" in page
    assert "cancel/" not in page


def test_what_is_over_cannot_be_cancelled(client: Client, export: Export) -> None:
    make(export)
    assert "This export has already ended, so there was nothing to cancel." in cancel(client, export)
    export.refresh_from_db()
    assert export.is_ready


def test_a_stranger_cancels_nothing(export: Export) -> None:
    stranger = signed_in(make_person("stranger"))
    assert stranger.post(f"/exports/{export.pk}/cancel/").status_code == 404
    assert Job.objects.get().state == JobState.WAITING


def test_one_that_the_version_before_was_asked_for_waits_and_can_be_cancelled(client: Client, study: Study) -> None:
    """While this version comes in: it has no job yet."""
    export = Export.objects.create(project=study.project, study=study, format="csv", requested_at=NOON)
    assert "Waiting for the worker" in text_of(client, f"/exports/{export.pk}/")
    assert "It was cancelled." in cancel(client, export)

import json
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.http import FileResponse
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from results import tasks
from results.models import Export
from studies.models import Study
from tests.factories import answer, questions, sit_down

ASK = "/studies/birds/birds-step-3/exports/"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the ids of the exports whose tasks are sent."""
    ids: list[int] = []
    monkeypatch.setattr(tasks.make_export, "apply_async", lambda args, kwargs: ids.append(*args))
    return ids


def ask(client: Client, capture: DjangoCaptureOnCommitCallbacks, **form: str) -> Any:
    with capture(execute=True):
        return client.post(ASK, form, follow=True)


def test_asking_notes_the_export_and_sends_its_task_after_the_commit(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    response = ask(client, django_capture_on_commit_callbacks, format="csv")
    export = Export.objects.get()
    assert sent == [export.pk]
    assert (export.format, export.state, export.study) == ("csv", Export.State.WAITING, study)
    assert export.requested_by
    assert export.requested_by.username == "researcher"
    assert "Waiting for the worker" in response.content.decode()


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
    Export.objects.update(state=Export.State.RUNNING, rows_done=3, rows_total=7)
    running = client.get(address).content.decode()
    assert f'hx-get="{address}"' in running
    assert '<progress value="3" max="7"' in running
    tasks.make_export.apply(args=(export.pk,), throw=True)
    made = client.get(address).content.decode()
    assert "hx-get" not in made
    assert f'href="{address}download/"' in made
    assert "1 row<" in made


def test_a_failed_export_tells_why_and_cannot_be_downloaded(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    ask(client, django_capture_on_commit_callbacks, format="jsonl")
    Export.objects.update(state=Export.State.FAILED, error="The disk is full.")
    address = f"/exports/{Export.objects.get().pk}/"
    assert "The disk is full." in client.get(address).content.decode()
    assert client.get(f"{address}download/").status_code == 404


def test_the_download_is_the_file_under_a_safe_name(
    client: Client, study: Study, sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    answer(sit_down(study, "one"), questions(study)[0], "candidate-1")
    ask(client, django_capture_on_commit_callbacks, format="jsonl")
    export = Export.objects.get()
    tasks.make_export.apply(args=(export.pk,), throw=True)
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
    tasks.make_export.apply(args=(export.pk,), throw=True)
    export.refresh_from_db()
    default_storage.delete(export.file)
    assert client.get(f"/exports/{export.pk}/download/").status_code == 404

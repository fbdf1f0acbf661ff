"""The page of a project's imports in the background: how far they are, what became of them, cancel and try again."""

import csv
import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from background.jobs import claim, fail, request_job
from background.models import Job, JobState
from results.queries.studies.events import latest_events
from studies.actions.imports.import_jobs import cancel_import, request_again
from studies.models import Import, Project, Upload
from tests.factories import NOON, make_member, make_project

pytestmark = pytest.mark.django_db
PAGE = "/projects/vases/imports/"
PROBLEMS = [
    {"file": "=vases.csv", "record": 7, "field": "key", "reason": 'It is "empty", or blank.'},
    {"file": "=vases.csv", "record": 9, "field": "caption", "reason": "It is missing."},
]


@pytest.fixture
def project() -> Project:
    return make_project("vases")


@pytest.fixture
def client(client: Client, project: Project) -> Client:
    client.force_login(make_member(project, "editor"))
    return client


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the ids of the jobs that are sent."""
    ids: list[int] = []
    monkeypatch.setattr("workspace.views.projects.imports.send", lambda job: ids.append(job.pk))
    return ids


def waiting(project: Project, **fields: Any) -> Import:
    wanted = Import.objects.create(
        project=project,
        files=[{"path": "/data/secret/vases.csv", "sha256": "0" * 64}],
        format="jsonl",
        caption_rule="as-is-v1",
        by_name="anna",
        requested_at=NOON,
        **fields,
    )
    wanted.job, _ = request_job(kind="studies.import", arguments={"import": wanted.pk}, by=None, now=NOON)
    wanted.save()
    return wanted


def failed(project: Project) -> Import:
    name = default_storage.save("imports/problems.jsonl", ContentFile("".join(f"{json.dumps(p)}\n" for p in PROBLEMS)))
    wanted = waiting(project, first_problems=["Record 7, key: It is empty."], problem_count=2, problems_file=name)
    assert wanted.job
    fail(job=wanted.job, error="Nothing was imported: 2 problems were found.", now=NOON)
    return wanted


def shown(client: Client, address: str = PAGE) -> str:
    return client.get(address).content.decode()


def test_the_line_of_an_import_asks_for_itself_until_it_is_over(client: Client, project: Project) -> None:
    wanted = waiting(project)
    address = f"/imports/{wanted.pk}/"
    assert "Waiting for the worker" in shown(client)
    assert claim(job_id=wanted.job_id or 0, message="one", now=NOON)
    Job.objects.update(done=50, total=200)
    Import.objects.update(stage="images")
    page = shown(client, address)
    assert "Checking images: 50 of 200 rows" in page
    assert '<progress value="50" max="200"' in page
    assert f'hx-get="{address}"' in page
    Import.objects.update(finished_at=NOON, summaries=[{"file": "vases.csv", "sentence": "2 records: 2 added."}])
    response = client.get(address)
    assert response["HX-Retarget"] == f"#import-{wanted.pk}"
    assert "2 records: 2 added." in response.content.decode()
    assert "hx-get" not in response.content.decode()


def test_a_refused_import_says_why_and_where_on_the_server_its_files_lie_is_not_shown(
    client: Client, project: Project
) -> None:
    failed(project)
    page = shown(client)
    assert "Nothing was imported: 2 problems were found." in page
    assert "Record 7, key: It is empty." in page
    assert "Download all 2 problems as a table" in page
    assert "vases.csv" in page
    assert "/data/secret" not in page


def test_the_table_of_problems_has_every_bad_row_and_no_formula(client: Client, project: Project) -> None:
    response = client.get(f"/imports/{failed(project).pk}/problems/")
    assert response["Content-Disposition"].startswith('attachment; filename="vases-import-')
    assert list(csv.reader(StringIO(b"".join(response).decode()))) == [
        ["file", "record", "field", "reason"],
        ["'=vases.csv", "7", "key", 'It is "empty", or blank.'],
        ["'=vases.csv", "9", "caption", "It is missing."],
    ]
    assert client.get(f"/imports/{waiting(project).pk}/problems/").status_code == 404


def test_cancel_ends_it_and_try_again_asks_anew(client: Client, project: Project, sent: list[int]) -> None:
    wanted = waiting(project)
    page = client.post(f"/imports/{wanted.pk}/cancel/", follow=True).content.decode()
    assert "It was cancelled. Nothing was imported." in page
    assert "Cancel<" not in page
    assert "already ended" in client.post(f"/imports/{wanted.pk}/cancel/", follow=True).content.decode()
    # Pressed twice, it is one.
    for _ in range(2):
        client.post(f"/imports/{wanted.pk}/again/")
    again = Import.objects.exclude(pk=wanted.pk).get()
    assert (again.files, again.by_name, again.is_unfinished) == (wanted.files, "editor", True)
    assert set(sent) == {again.job_id}
    refused = client.post(f"/imports/{again.pk}/again/", follow=True).content.decode()
    assert "did not fail, so there is nothing to try again" in refused


def test_one_whose_job_is_gone_is_still_told(client: Client, project: Project) -> None:
    failed(project)
    Job.objects.all().delete()
    assert "Nothing was imported: 2 problems were found." in shown(client)


def test_more_imports_ask_no_more_queries(client: Client, project: Project) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            shown(client)
        return len(asked)

    waiting(project)
    failed(project)
    once = queries()
    for _ in range(3):
        waiting(project)
        failed(project)
    assert shown(client).count('<li id="import-') == 8
    assert queries() == once
    assert Job.objects.filter(state=JobState.FAILED).count() == 4


def test_what_was_looked_over_is_imported_by_one_button_that_goes_meanwhile(client: Client, project: Project) -> None:
    upload = Upload.objects.create(project=project, made_by=User.objects.get(username="editor"), made_at=NOON)
    waiting(project, upload=upload, dry_run=True, finished_at=NOON)
    assert "Checked. Nothing is imported yet." in shown(client)
    assert "Import it now" in shown(client)
    going_on = waiting(project, upload=upload)
    assert "Checked.<" in shown(client)
    assert "Import it now" not in shown(client)
    # Its files are gone once they are imported.
    Import.objects.update(upload=None)
    Import.objects.filter(pk=going_on.pk).update(finished_at=NOON)
    assert "Checked.<" in shown(client)
    # What the check said remains beside the import, and is called a check.
    assert shown(client).count("Check of <strong>") == 1
    assert '<a href="/projects/vases/">Go on with' in shown(client)


def test_activity_tells_a_check_from_an_import(project: Project) -> None:
    checked, cancelled = waiting(project, dry_run=True, finished_at=NOON), waiting(project, dry_run=True)
    by = make_member(project, "anna")
    request_again(wanted=checked, by=by, now=NOON)
    cancel_import(wanted=cancelled, by=by, now=NOON)
    # Failed and tried again, it is a check again.
    request_again(wanted=Import.objects.get(pk=cancelled.pk), by=by, now=NOON)
    assert {line.what for line in latest_events(project, 9)} == {
        "requested the import of vases.csv",
        "cancelled a check of vases.csv",
        "requested a check of vases.csv",
    }

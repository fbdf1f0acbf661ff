import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from background.models import Job, JobState
from making.models import Pipeline
from predictions.models import Run
from results.actions.exports import request_export
from results.models import Export
from studies.models import Import, Membership, Study
from tests.factories import NOON, make_person
from tests.pages import signed_in

JOBS = "/jobs/"


@pytest.fixture
def export(study: Study, researcher: User) -> Export:
    return request_export(study=study, format="csv", by=researcher, now=NOON)


def text(page: Any) -> str:
    """Return the words of a page, one space between them."""
    return " ".join(re.sub(r"<[^>]*>", "", page.content.decode()).split())


def change(state: JobState, **fields: Any) -> None:
    """Set the state of the export's job."""
    running = {"attempts": 1, "started_at": NOON, "beat_at": NOON} if state == JobState.RUNNING else {}
    Job.objects.filter(kind="results.export").update(state=state, **running, **fields)


def end(state: JobState = JobState.DONE, **fields: Any) -> None:
    change(state, finished_at=NOON + timedelta(days=9999), **fields)


def test_every_page_asks_for_what_runs(client: Client, study: Study) -> None:
    for page in ("/", "/projects/birds/", "/studies/birds/birds-step-3/", "/tokens/"):
        assert f'hx-get="{JOBS}" hx-trigger="load"' in client.get(page).content.decode()


def test_a_job_is_a_bar_on_other_pages_until_it_is_done(client: Client, export: Export) -> None:
    change(JobState.RUNNING, done=3, total=7)
    shown = client.get(JOBS)
    title = f"Export of {export.study.title} (Accepted items, CSV for spreadsheets)"
    assert f"{title} in {export.project.name} 3 of 7 rows" in text(shown)
    assert '<progress value="3" max="7"' in shown.content.decode()
    assert 'hx-trigger="every 3s"' in shown.content.decode()
    end()
    ended = client.get(JOBS)
    assert f"{title} in {export.project.name} is done." in text(ended)
    assert f'href="/studies/birds/birds-step-3/exports/#export-{export.pk}"' in ended.content.decode()
    assert "hx-trigger" not in ended.content.decode(), "nothing is left to ask for"


def test_a_notice_comes_once(client: Client, export: Export) -> None:
    client.get(JOBS)
    Job.objects.update(state=JobState.DONE, finished_at=NOON)
    assert "is done" not in text(client.get(JOBS)), "it ended before this browser looked the first time"


def test_a_failure_says_why(client: Client, export: Export) -> None:
    client.get(JOBS)
    end(JobState.FAILED, error="The disk is full.")
    assert "failed: The disk is full." in text(client.get(JOBS))


def test_the_page_that_lists_a_job_shows_it_once(client: Client, export: Export) -> None:
    there = {"HX-Current-URL": "http://testserver/studies/birds/birds-step-3/exports/?page=1"}
    assert "CSV" not in text(client.get(JOBS, headers=there))


def test_imports_and_model_runs_are_shown_too(client: Client, study: Study, researcher: User) -> None:
    job = Job.objects.create(kind="studies.import", unit="rows", requested_by=researcher, asked_at=NOON)
    whose = {"project": study.project, "requested_by": researcher, "requested_at": NOON}
    Import.objects.create(files=[{"path": "/a/birds.csv"}], format="csv", job=job, by_name="r", **whose)
    Run.objects.create(spec="onnx:demo", study=study, total=8, stored=2, wrong=1, by_name="r", **whose)
    shown = text(client.get(JOBS))
    assert f"Import of birds.csv in {study.project.name} Waiting for the worker" in shown
    assert f"Model run of onnx:demo on {study.title} in {study.project.name} 3 of 8 questions" in shown


@pytest.mark.parametrize(
    ("address", "is_named"),
    [
        ("/projects/birds/people/", False),
        ("/studies/birds/birds-step-3/", False),
        ("/projects/vases/", True),
        ("/", True),
    ],
)
def test_a_job_names_its_project_on_pages_of_others(
    client: Client, export: Export, address: str, is_named: bool
) -> None:
    change(JobState.RUNNING)
    shown = text(client.get(JOBS, headers={"HX-Current-URL": f"http://testserver{address}"}))
    assert f"Export of {export.study.title} (" in shown
    assert (f" in {export.project.name} " in shown) is is_named


def test_a_check_of_an_import_is_not_called_done(client: Client, study: Study, researcher: User) -> None:
    client.get(JOBS)
    whose = {"project": study.project, "requested_by": researcher, "requested_at": NOON}
    keys = []
    for dry_run in (True, False):
        job = Job.objects.create(kind="studies.import", unit="rows", requested_by=researcher, asked_at=NOON)
        Import.objects.create(
            files=[{"path": "/a/mine.csv"}], format="csv", job=job, by_name="r", dry_run=dry_run, **whose
        )
        keys.append(f'data-notice="job-{job.pk}"')
    Job.objects.update(state=JobState.DONE, finished_at=NOON + timedelta(days=9999))
    ended = client.get(JOBS)
    assert text(ended).count(f"Import of mine.csv in {study.project.name} is checked.") == 1
    assert text(ended).count(f"Import of mine.csv in {study.project.name} is done.") == 1
    assert [ended.content.decode().count(key) for key in keys] == [1, 1]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"finished_at": NOON}, "is done."),
        ({"waits_for": "images"}, "is continued by workers with models."),
        ({"collected_at": NOON}, "waits for people."),
        ({"waits_for": "images", "error": "The model is too large."}, "failed: The model is too large."),
    ],
)
def test_a_pipeline_is_not_called_done_before_it_is(
    client: Client, study: Study, researcher: User, fields: dict[str, Any], words: str
) -> None:
    client.get(JOBS)
    whose: dict[str, Any] = {"project": study.project, "requested_by": researcher, "requested_at": NOON}
    ended = {"state": JobState.DONE, "finished_at": NOON + timedelta(days=9999)}
    job = Job.objects.create(kind="making.pipeline", unit="texts", requested_by=researcher, asked_at=NOON, **ended)
    Pipeline.objects.create(name="swaps", source="", is_trial=True, job=job, by_name="r", **whose, **fields)
    page = client.get(JOBS)
    assert f"Trial swaps {words}" in text(page)
    assert ("notice error" in page.content.decode()) == words.startswith("failed")


def test_nobody_sees_the_jobs_of_others_or_of_a_project_they_left(
    client: Client, export: Export, researcher: User
) -> None:
    assert "CSV" not in text(signed_in(make_person("stranger")).get(JOBS))
    Membership.objects.filter(user=researcher).delete()
    assert "CSV" not in text(client.get(JOBS))


def test_a_broken_cookie_is_no_cookie(client: Client, export: Export) -> None:
    for broken in ("no date", "2026-99-99T00:00", "2026-11-20T12:00"):
        client.cookies["jobs_told"] = broken
        assert client.get(JOBS).status_code == 200


def test_more_jobs_take_no_more_queries(
    client: Client,
    study: Study,
    researcher: User,
    export: Export,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for format in ("hf", "parquet", "jsonl"):
        request_export(study=study, format=format, by=researcher, now=NOON)
    # Session, user; runs, jobs, and one for each sort of job.
    with django_assert_max_num_queries(10):
        client.get(JOBS)

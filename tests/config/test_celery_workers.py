import dbm
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery.beat import Service
from django.core.files.storage import default_storage
from django.utils import timezone

from background import jobs
from background.broker import transport_options
from background.models import Job, JobState
from background.tasks import resume_jobs, run_job
from config.celery import app
from results.actions.exports import job_of, request_export
from results.models import Export
from studies.models import Study
from tests.factories import answer, draw_instance, make_launched, make_person, make_project, make_study, sit_down
from tests.servers import spare_port
from tests.waiting import wait_until
from tests.workers import BROKERS, celery_worker, site_environment

WAIT_SECONDS = 60
EMBEDDED_BROKER = "filesystem://localhost"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=BROKERS)
def broker_url(request: pytest.FixtureRequest) -> str:
    if request.param == "files":
        return EMBEDDED_BROKER
    return str(request.getfixturevalue("redis_server"))


@pytest.fixture
def study(transactional_db: None) -> Study:
    project = make_project("birds")
    draw_instance(project, 1)
    study = make_launched(make_study(project))
    session = sit_down(study, "somebody")
    answer(session, study.questions.get(), "candidate-2")
    return study


def _asked_for(study: Study, *, by: str, minutes_ago: int = 0) -> Job:
    asked_at = timezone.now() - timedelta(minutes=minutes_ago)
    export = request_export(study=study, format="jsonl", by=make_person(by), now=asked_at)
    return job_of(export=export)


def send_to(task: Any, *args: int, broker_url: str, folder: Path) -> None:
    options = transport_options(broker_url, folder / "broker")
    with app.connection_for_write(broker_url, transport_options=options) as connection:
        task.apply_async(args, connection=connection)


def _wait_until_made(job: Job, log: Path) -> None:
    def is_done() -> bool:
        job.refresh_from_db()
        return job.state == JobState.DONE

    def why() -> str:
        return f"the export is still {job.state}: {log.read_text(encoding='utf-8')[-3000:]}"

    wait_until(is_done, seconds=WAIT_SECONDS, why=why)


def test_a_worker_process_makes_an_export_and_one_that_has_been_running_for_too_long(
    study: Study, broker_url: str, tmp_path: Path
) -> None:
    with celery_worker(folder=tmp_path, broker_url=broker_url):
        job = _asked_for(study, by="researcher")
        send_to(run_job, job.pk, broker_url=broker_url, folder=tmp_path)
        _wait_until_made(job, tmp_path / "worker.log")
        lost = _asked_for(study, by="colleague", minutes_ago=20)
        jobs.claim(job_id=lost.pk, message="lost", now=lost.asked_at)
        send_to(resume_jobs, broker_url=broker_url, folder=tmp_path)
        _wait_until_made(lost, tmp_path / "worker.log")
    files = Export.objects.values_list("file", flat=True)
    assert len(set(files)) == 2
    for file in files:
        with default_storage.open(file) as made:
            assert made.read().count(b"\n") == 1


@pytest.mark.once(on="sqlite", because="the broker is down, not the database, whichever that is")
def test_a_page_does_not_fail_when_the_broker_is_down(study: Study, tmp_path: Path) -> None:
    job = _asked_for(study, by="researcher")
    program = f"from background.tasks import send; from background.models import *; send(Job.objects.get(pk={job.pk}))"
    answer = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", f"{program}; print('answered')"],
        cwd=ROOT,
        env=site_environment(tmp_path, CELERY_BROKER_URL=f"redis://127.0.0.1:{spare_port()}/0"),
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
    )
    assert answer.returncode == 0
    assert answer.stdout.strip().endswith("answered")
    assert "background.run_job is sent again later: the broker cannot be reached" in answer.stderr
    assert "Traceback" not in answer.stderr
    job.refresh_from_db()
    assert job.state == JobState.WAITING


def test_every_periodic_task_exists() -> None:
    app.loader.import_default_modules()
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} - set(app.tasks) == set()


def test_the_clock_starts_whatever_was_left_of_its_file(tmp_path: Path) -> None:
    """A file that a kill had cut off ended the clock for good, while the worker that it ran in lived on."""
    left = tmp_path / "beat-schedule"
    with dbm.open(str(left), "c") as file:
        file["entries"] = b""
    service = Service(app, scheduler_cls=app.conf.beat_scheduler, schedule_filename=str(left))
    assert service.get_scheduler().schedule.keys() == app.conf.beat_schedule.keys()

"""Progress of a job in the middle of a transaction: written at most once a second, and never in the way."""

from datetime import timedelta
from pathlib import Path

import pytest
from pytest_django import Settings

from background.live_progress import LiveProgress, forget, read, reporter
from background.models import Job, JobState
from tests.factories import NOON


@pytest.fixture
def job(settings: Settings, tmp_path: Path) -> Job:
    settings.MEDIA_ROOT = tmp_path
    return Job(pk=7, state=JobState.RUNNING, attempts=2)


def test_a_stage_is_told_at_once_and_its_counts_once_a_second(job: Job) -> None:
    now = NOON
    report = reporter(job, lambda: now)
    report("Building", 1, 9)
    report("Building", 2, 9)
    assert read(job) == LiveProgress("Building", 1, 9)
    report("Saving", 3, 9)
    assert read(job) == LiveProgress("Saving", 3, 9)
    now = NOON + timedelta(seconds=1)
    report("Saving", 4, 9)
    assert read(job) == LiveProgress("Saving", 4, 9)
    forget(job.pk)
    assert read(job) is None
    forget(job.pk)


def test_a_damaged_file_and_a_full_disk_cost_the_bar_only(job: Job, tmp_path: Path) -> None:
    (tmp_path / "progress").mkdir()
    (tmp_path / "progress/7.json").write_text("[2, ")
    assert read(job) is None
    (tmp_path / "progress/7.json").unlink()
    (tmp_path / "progress").rmdir()
    (tmp_path / "progress").write_text("no folder")
    reporter(job, lambda: NOON)("Building", 1, 9)
    assert read(job) is None

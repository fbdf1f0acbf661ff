"""Progress of a job inside a long transaction, in a small file: nobody sees its rows before they are committed.

The file names the attempt, so that what a lost worker wrote is not read for its successor.
"""

import contextlib
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings

from background.models import Job, JobState

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class LiveProgress:
    """`stage`: what the job does now. `total`: 0 while unknown."""

    stage: str
    done: int
    total: int


def _file_of(job_id: int) -> Path:
    return Path(settings.MEDIA_ROOT) / "progress" / f"{job_id}.json"


def write(job: Job, progress: LiveProgress) -> None:
    """Store how far the attempt of `job` is. A full disk costs the bar, not the job."""
    path = _file_of(job.pk)
    new = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(json.dumps([job.attempts, progress.stage, progress.done, progress.total]))
        new.replace(path)
    except OSError as error:
        logger.warning("the progress of job %s could not be stored: %s", job.pk, error)


def read(job: Job) -> LiveProgress | None:
    """Return how far the attempt of `job` is that runs now, None if it has not said."""
    if job.state != JobState.RUNNING:
        return None
    try:
        attempt, stage, done, total = json.loads(_file_of(job.pk).read_text())
    except (OSError, ValueError):
        return None
    return LiveProgress(stage, done, total) if attempt == job.attempts else None


def show_in(job: Job) -> str:
    """Put the live progress of `job` into its unsaved fields; return its stage, "" without one."""
    live = read(job)
    if live is None:
        return ""
    job.done, job.total = live.done, live.total
    return live.stage


def forget(job_id: int) -> None:
    """Delete what a job that ended has stored."""
    with contextlib.suppress(OSError):
        _file_of(job_id).unlink()


def reporter(job: Job, now: Callable[[], datetime]) -> Callable[[str, int, int], None]:
    """Return a function that stores stage, done and total: at once for a new stage, else once a second."""
    told: list[tuple[str, datetime]] = []

    def report(stage: str, done: int, total: int) -> None:
        moment = now()
        if told and told[-1][0] == stage and (moment - told[-1][1]).total_seconds() < 1:
            return
        told[:] = [(stage, moment)]
        write(job, LiveProgress(stage, done, total))

    return report

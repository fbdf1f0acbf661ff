"""Work that tests do: it counts, and keeps what it has counted as lines of a file, one batch a number."""

import os
import time
from datetime import timedelta
from pathlib import Path

from django.conf import settings

from background.errors import Failed
from background.models import Job
from background.work import RunningJob, Work

NUMBERS = 30


def path() -> Path:
    return Path(settings.MEDIA_ROOT) / "counted"


def counted() -> list[int]:
    return [int(line) for line in path().read_text(encoding="utf-8").splitlines()] if path().exists() else []


def gate() -> Path:
    return path().with_suffix(".open")


def count(job: RunningJob) -> None:
    """Count to `arguments.numbers`, a number a batch; wait for the gate at the number `arguments.waits_at`."""
    path().parent.mkdir(parents=True, exist_ok=True)
    numbers = job.arguments.get("numbers", NUMBERS)
    for number in range(job.step.get("next", 0), numbers):
        with path().open("a", encoding="utf-8") as out:
            out.write(f"{number}\n")
            out.flush()
            os.fsync(out.fileno())
        while number == job.arguments.get("waits_at", -1) and not gate().exists():
            time.sleep(0.02)
        if number == job.arguments.get("fails_at", -1):
            raise Failed(f"The number {number} cannot be counted. Choose another.")
        job.advance(step={"next": number + 1}, done=number + 1, total=numbers)


def note_end(job: Job) -> None:
    path().parent.mkdir(parents=True, exist_ok=True)
    path().with_suffix(".ended").write_text(f"{job.state}: {job.error}", encoding="utf-8")


def ended() -> str:
    return path().with_suffix(".ended").read_text(encoding="utf-8") if path().with_suffix(".ended").exists() else ""


TROUBLE, PATIENCE = "The numbers could not be counted.", timedelta(seconds=3)
COUNT = Work(run=count, unit="numbers", trouble=TROUBLE, minutes=5, patience=PATIENCE, ended=note_end)

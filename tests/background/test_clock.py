"""A machine whose clock differs from the database's does no work."""

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from celery.beat import Scheduler
from celery.worker import state
from django.apps import apps
from django.db import DatabaseError, connection
from django.db.backends.signals import connection_created

from background import clock
from background.celery_clock import CheckClock, CheckedScheduler
from config.celery import app
from config.outage import is_outage
from tests.config.test_celery_workers import EMBEDDED_BROKER
from tests.waiting import wait_until
from tests.workers import site_environment

ROOT = Path(__file__).resolve().parents[2]
HOUR_AHEAD = (
    "The clock of this machine is 60 minutes ahead of the database's, so it does no work. Set both clocks by NTP."
)
# Shifts the clock of the process that reads it first.
SHIFTED = "import time\nreal = time.time\ntime.time = lambda: real() + 3600\n"

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.once(on="postgresql", because="an SQLite file has the clock of the machine that it is on"),
]


@pytest.fixture(autouse=True)
def compared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(clock, "_checked_at", None)
    monkeypatch.setattr(clock, "_seconds_between_checks", 0)
    apps.get_app_config("background").ready()
    yield
    connection_created.disconnect(dispatch_uid=clock.__name__)


def shift(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + seconds)


def connect() -> tuple[str, bool]:
    """Open a connection of another thread; return what is wrong, and whether pages call it an outage."""

    def open_and_close() -> tuple[str, bool]:
        try:
            connection.ensure_connection()
        except DatabaseError as error:
            return str(error), is_outage(error)
        finally:
            connection.close()
        return "", False

    with ThreadPoolExecutor(1) as others:
        return others.submit(open_and_close).result()


@pytest.mark.parametrize(
    ("seconds", "difference"),
    [
        (3600, "60 minutes ahead of"),
        (-3600, "60 minutes behind"),
        (120, "2 minutes ahead of"),
        (60, "60 seconds ahead of"),
        (-60, "60 seconds behind"),
    ],
)
def test_another_clock_is_an_outage_that_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, seconds: int, difference: str
) -> None:
    told = f"The clock of this machine is {difference} the database's, so it does no work. Set both clocks by NTP."
    shift(monkeypatch, seconds)
    assert connect() == (told, True)
    # Until it is right: the next connection is refused too.
    assert connect() == (told, True)
    monkeypatch.undo()
    assert connect() == ("", False)


@pytest.mark.parametrize(("seconds", "is_refused"), [(-6, True), (-4, False), (4, False), (6, True)])
def test_five_seconds_are_tolerated(monkeypatch: pytest.MonkeyPatch, seconds: int, is_refused: bool) -> None:
    shift(monkeypatch, seconds)
    assert bool(connect()[0]) == is_refused


def test_a_database_that_takes_a_minute_to_answer_has_no_wrong_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time()
    moments = [real - 30, real + 30]
    monkeypatch.setattr(time, "time", lambda: moments.pop(0) if moments else real)
    assert connect() == ("", False)
    assert moments == []


def test_a_clock_that_jumps_is_noticed_by_the_next_task_and_within_a_minute_by_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert connect() == ("", False)
    with monkeypatch.context() as jump:
        shift(jump, 3600)
        assert connect() == (HOUR_AHEAD, True)
    clock.compare_once_a_minute()
    assert connect() == ("", False)
    with monkeypatch.context() as jump:
        shift(jump, 3600)
        assert connect() == ("", False)
        checked_at = clock._checked_at
        assert checked_at is not None
        jump.setattr(clock, "_checked_at", checked_at - 61)
        assert connect() == (HOUR_AHEAD, True)


def test_beat_sends_nothing_by_a_wrong_clock(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    sent = list[str]()

    def send(scheduler: Scheduler) -> float:
        sent.append("a message")
        return 7.0

    monkeypatch.setattr(Scheduler, "tick", send)
    beat = CheckedScheduler(app, lazy=True)
    with monkeypatch.context() as wrong:
        shift(wrong, -3600)
        # So many seconds later it looks again.
        assert (beat.tick(), beat.tick()) == (5.0, 5.0)
    assert sent == []
    assert "60 minutes behind the database's" in caplog.text
    assert beat.tick() == 7.0
    with monkeypatch.context() as wrong:
        shift(wrong, -3600)
        assert beat.tick() == 7.0
        assert beat.checked_at is not None
        beat.checked_at -= 61
        assert beat.tick() == 5.0
    assert len(sent) == 2
    assert beat.tick() == 7.0


def test_a_worker_whose_clock_jumps_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "should_stop", None)
    CheckClock.check()
    assert state.should_stop is None
    shift(monkeypatch, 3600)
    CheckClock.check()
    assert state.should_stop == 1


def celery_an_hour_ahead(folder: Path, command: str) -> dict[str, Any]:
    """Return how to start a process of Celery whose clock is wrong."""
    (folder / "sitecustomize.py").write_text(SHIFTED)
    environment = site_environment(folder, CELERY_BROKER_URL=EMBEDDED_BROKER, PYTHONPATH=str(folder))
    return {"args": [sys.executable, "-m", "celery", "-A", "config", command], "cwd": ROOT, "env": environment}


def test_a_worker_ends_before_it_handles_a_message(tmp_path: Path) -> None:
    ended = subprocess.run(
        **celery_an_hour_ahead(tmp_path, "worker"), check=False, capture_output=True, text=True, timeout=120
    )
    assert HOUR_AHEAD in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "ready" not in ended.stderr
    assert ended.returncode != 0


def test_beat_waits_and_sends_nothing(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with said.open("w") as log, subprocess.Popen(**celery_an_hour_ahead(tmp_path, "beat"), stderr=log) as beat:
        try:
            wait_until(lambda: said.read_text().count(HOUR_AHEAD) == 2, seconds=120, why=said.read_text)
            assert beat.poll() is None
        finally:
            beat.terminate()
    assert "Sending due task" not in said.read_text()
    assert "Traceback" not in said.read_text()


def test_commands_refuse_too(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SHIFTED)
    ended = subprocess.run(
        [sys.executable, "manage.py", "expire_sessions"],
        cwd=ROOT,
        env=site_environment(tmp_path, PYTHONPATH=str(tmp_path)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode != 0
    assert HOUR_AHEAD in ended.stderr

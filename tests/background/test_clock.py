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
        return 5.0

    monkeypatch.setattr(Scheduler, "tick", send)
    beat = CheckedScheduler(app, lazy=True)
    with monkeypatch.context() as wrong:
        shift(wrong, -3600)
        with pytest.raises(SystemExit):
            beat.tick()
    assert sent == []
    assert "60 minutes behind the database's" in caplog.text
    assert beat.tick() == 5.0
    with monkeypatch.context() as wrong:
        shift(wrong, -3600)
        assert beat.tick() == 5.0
        assert beat.checked_at is not None
        beat.checked_at -= 61
        with pytest.raises(SystemExit):
            beat.tick()
    assert len(sent) == 2


def test_a_worker_whose_clock_jumps_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "should_stop", None)
    CheckClock.check()
    assert state.should_stop is None
    shift(monkeypatch, 3600)
    CheckClock.check()
    assert state.should_stop == 1


@pytest.mark.parametrize("command", [["celery", "-A", "config", "worker"], ["celery", "-A", "config", "beat"]])
def test_workers_and_beat_end_before_they_handle_a_message(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SHIFTED)
    environment: dict[str, Any] = site_environment(
        tmp_path, CELERY_BROKER_URL=EMBEDDED_BROKER, PYTHONPATH=str(tmp_path)
    )
    ended = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert HOUR_AHEAD in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "ready" not in ended.stderr
    assert "Sending due task" not in ended.stderr


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

"""The demo's processes: start, watch and end them by pid.

They are the web server, a Celery worker with its scheduler, the worker with models, which has no database, the local
platform that behaves like Prolific, and its participants.
"""

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 60
STOP_SECONDS = 20
LOOK_EVERY_SECONDS = 0.2
# 8400 beside 8000, as `manage.py prolific_double` has it.
FROM_SITE_TO_PLATFORM = 400


class CannotServe(Exception):
    """The site cannot start, or one of its processes ended; the message says what to do."""


def check_port_is_free(port: int) -> None:
    """Raise CannotServe if something listens on the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise CannotServe(
                f"Port {port} cannot be used ({error.strerror}). "
                f"Stop what runs there, or choose another: make demo DEMO_PORT={port + 1 if port < 65535 else 8001}"
            ) from error


def platform_port(port: int) -> int:
    """Return the port of the local platform, beside a site on `port`."""
    return port + FROM_SITE_TO_PLATFORM if port + FROM_SITE_TO_PLATFORM < 65536 else port - FROM_SITE_TO_PLATFORM


def _commands(port: int) -> dict[str, list[str]]:
    platform = str(platform_port(port))
    return {
        "web server": [
            *(sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}"),
            *("--worker-class", "gthread", "--workers", "2", "--threads", "4", "--log-level", "warning"),
        ],
        "worker": [
            # Celery warns about running as root; a fresh machine has no other user.
            *(sys.executable, "-W", "ignore::UserWarning"),
            *("-m", "celery", "--app", "config", "--quiet", "worker", "--beat", "--concurrency", "1"),
            *("--loglevel", "WARNING"),
        ],
        "worker with models": [
            *(sys.executable, "-W", "ignore::UserWarning"),
            *("-m", "celery", "--app", "predictions.worker", "--quiet", "worker"),
            *("--hostname", "models@%h", "--loglevel", "WARNING"),
        ],
        "local platform": [
            *(sys.executable, "manage.py", "prolific_double", "--port", platform, "--simulated", "--verbosity", "0"),
        ],
        "participants": [
            *(sys.executable, "manage.py", "prolific_participants", "--verbosity", "0"),
            *("--platform", f"http://127.0.0.1:{platform}"),
        ],
    }


@contextmanager
def serve(*, port: int, root: Path) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    """Run the site during the block: enters once it answers, and ends its processes afterwards.

    `root` is the folder of manage.py. Raises CannotServe.
    """
    processes: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, command in _commands(port).items():
            # In their own session, so that Ctrl-C reaches only the demo, which then ends them in order.
            processes[name] = subprocess.Popen(command, cwd=root, start_new_session=True)  # noqa: S603 (our own words)
        _wait_until_healthy(port, processes)
        yield processes
    finally:
        _end(processes)


def _wait_until_healthy(port: int, processes: dict[str, subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _is_healthy(port):
        check_all_run(processes)
        if time.monotonic() > deadline:
            raise CannotServe(f"The site did not answer within {START_SECONDS} seconds. Its messages stand above.")
        time.sleep(LOOK_EVERY_SECONDS)


def _is_healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def check_all_run(processes: dict[str, subprocess.Popen[bytes]]) -> None:
    """Raise CannotServe if one of the processes has ended."""
    for name, process in processes.items():
        if process.poll() is not None:
            raise CannotServe(
                f"The demo's {name} ended by itself (status {process.returncode}). Its messages stand above."
            )


def _end(processes: dict[str, subprocess.Popen[bytes]]) -> None:
    for process in processes.values():
        if process.poll() is None:
            process.terminate()
    for process in processes.values():
        try:
            process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

"""The real site for stories that kill things: gunicorn over a real PostgreSQL, as production runs it."""

import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from django.conf import settings

from tests.servers import spare_port

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 120


def browser_at(url: str) -> httpx.Client:
    """Return a browser for a site without https: it reads no certificates, which takes longer than several requests."""
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx.Client(base_url=url, follow_redirects=True, timeout=30, verify=nobody)


@dataclass
class Site:
    """A running site. `run` calls its commands; `kill_a_worker` ends one of its web workers as kill -9 does."""

    url: str
    environment: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    # The folder of the version that it runs.
    root: Path = ROOT

    @property
    def log(self) -> Path:
        """What its web server writes on standard error."""
        return Path(self.environment["DATA_DIR"]) / "site.log"

    def run(self, *command: str) -> str:
        done = subprocess.run(
            [sys.executable, *command], cwd=self.root, env=self.environment, check=True, capture_output=True, text=True
        )
        return done.stdout

    def start(self, *, workers: int) -> None:
        bind = self.url.removeprefix("http://")
        command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", bind, "--workers", str(workers)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--threads", "4", "--timeout", "30"],
                cwd=self.root,
                env=self.environment,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + START_SECONDS
        with browser_at(self.url) as browser:
            while time.monotonic() < deadline:
                try:
                    browser.get("/s/none/")
                    return
                except httpx.TransportError:
                    time.sleep(0.1)
        raise AssertionError("The site did not start.")

    def worker_pids(self) -> list[int]:
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii")
        return [int(pid) for pid in children.split()]

    def kill_a_worker(self) -> None:
        os.kill(self.worker_pids()[0], signal.SIGKILL)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=START_SECONDS)


@contextmanager
def running_site(*, database_url: str, data_dir: Path, workers: int = 2) -> Iterator[Site]:
    """Run the site on a spare port over a database that is migrated."""
    site = site_over(database_url=database_url, data_dir=data_dir)
    try:
        site.start(workers=workers)
        yield site
    finally:
        site.stop()


def site_over(*, database_url: str, data_dir: Path) -> Site:
    """Return a site that does not run yet, over an existing database."""
    environment = os.environ | {
        "DATABASE_URL": database_url,
        "DATA_DIR": str(data_dir),
        # So that a story knows which picture an address means.
        "SECRET_KEY": settings.SECRET_KEY,
        "STATIC_WITHOUT_COLLECT": "1",
        "LOG_LEVEL": "WARNING",
        # The whole crowd comes from this machine.
        "ARRIVALS_PER_NETWORK": "0",
        "PLACES_PER_NETWORK": "0",
        # It answers in no time.
        "CHECK_TIMES": "0",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    return Site(url=f"http://127.0.0.1:{spare_port()}", environment=environment)

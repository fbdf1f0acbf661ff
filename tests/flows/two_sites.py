"""Two machines of one site, each with its own folder, web server and Celery worker, behind nginx.

They share the database, Redis, the media folder and the keys, as docs/larger-sites.md says.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg

from tests.flows.crowd import Crowd
from tests.flows.site import ROOT, Site, site_over
from tests.processes import running
from tests.servers import ServerMissing, is_listened_at, spare_port
from tests.waiting import wait_until

GUIDE = ROOT / "docs/larger-sites.md"
# Where Debian has programs that only root's PATH names.
MORE_PROGRAMS = "/usr/sbin"
STOP_SECONDS = 60


@dataclass
class Machine:
    """A web server and a Celery worker, with a data folder of their own."""

    site: Site
    worker: subprocess.Popen[bytes] | None = None

    @property
    def folder(self) -> Path:
        return Path(self.site.environment["DATA_DIR"])

    def start(self) -> None:
        self.start_worker()
        self.start_web()

    def start_web(self) -> None:
        self.site.start(workers=2)

    def start_worker(self) -> None:
        self.worker = self._celery("worker", "--concurrency", "1", "--without-gossip", "--without-mingle")

    def start_beat(self) -> subprocess.Popen[bytes]:
        return self._celery("beat", "--pidfile", "")

    def _celery(self, *command: str) -> subprocess.Popen[bytes]:
        site = self.site
        with (self.folder / "celery.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "celery", "-A", "config", *command, "--loglevel", "INFO"],
                cwd=site.root,
                env=site.environment,
                stdout=log,
                stderr=log,
            )

    def stop_web(self) -> None:
        """Take the web server away in good order: requests that it has are answered."""
        self.site.stop()

    def stop(self) -> None:
        for process in self._processes():
            process.terminate()
        for process in self._processes():
            process.wait(timeout=STOP_SECONDS)

    def kill(self) -> None:
        """End all its processes as a power cut does."""
        for process in self._processes():
            kill(process)

    def kill_worker(self) -> None:
        assert self.worker is not None
        kill(self.worker)

    def _processes(self) -> list[subprocess.Popen[bytes]]:
        return [process for process in (self.site.process, self.worker) if process and process.poll() is None]


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children as kill -9 does."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    for pid in [process.pid, *map(int, children.split())]:
        os.kill(pid, signal.SIGKILL)
    process.wait()


@dataclass
class TwoSites:
    """`address` is the proxy's: it is where browsers go."""

    address: str
    machines: tuple[Machine, Machine]
    environment: dict[str, str]
    beats: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def kill_beats(self) -> None:
        for beat in self.beats:
            kill(beat)


@contextmanager
def two_sites(*, database_url: str, redis_url: str, folder: Path, root: Path = ROOT, **more: str) -> Iterator[TwoSites]:
    """Run two machines and the proxy over a database that is migrated; `root` holds the version that they run."""
    shared = {"MEDIA_ROOT": str(folder / "media"), "CELERY_BROKER_URL": redis_url, "TRUSTED_PROXIES": "1"}
    shared["CACHE_URL"] = f"{redis_url.removesuffix('/0')}/1"
    (folder / "media").mkdir()
    machines = []
    for name in ("first", "second"):
        (folder / name).mkdir()
        site = site_over(database_url=database_url, data_dir=folder / name)
        machines.append(Machine(replace(site, environment=site.environment | shared | more, root=root)))
    first, second = machines
    with ExitStack() as stack, ThreadPoolExecutor() as at_once:
        for machine in machines:
            stack.callback(machine.stop)
        list(at_once.map(Machine.start, machines))
        address = stack.enter_context(proxy(folder, [machine.site.url for machine in machines]))
        sites = TwoSites(address, (first, second), first.site.environment)
        stack.callback(sites.kill_beats)
        yield sites


def check_answers(database_url: str, crowd: Crowd, *, places: int, size: int) -> None:
    """Check that a study with `places` places of `size` questions, one answer to each, has exactly what was promised:
    all acknowledged answers are stored, none twice, and no session has two places."""
    assert crowd.failures == []
    answers = (
        "FROM annotation_response response JOIN studies_question question ON question.id = response.question_id "
        "JOIN studies_study study ON study.id = question.study_id WHERE study.slug = %s"
    )
    seats = "FROM annotation_seat seat JOIN studies_study study ON study.id = seat.study_id WHERE study.slug = %s"
    # Not by way of a pool, which a test restarts.
    with psycopg.connect(database_url, autocommit=True) as connection:

        def ask(query: str) -> list[tuple[Any, ...]]:
            return connection.execute(query.encode(), [crowd.slug]).fetchall()

        stored = {str(row[0]) for row in ask(f"SELECT submission_id {answers}")}
        assert set(crowd.acknowledged) <= stored
        per_question = ask(f"SELECT count(*), count(DISTINCT question_id), count(DISTINCT slot_id) {answers}")
        assert per_question == [(places * size, places * size, places * size)]
        filled = ask(f"SELECT count(*), count(filled_at), count(DISTINCT session_id) {seats}")
        assert filled == [(places, places, places)]


@contextmanager
def proxy(folder: Path, backends: list[str]) -> Iterator[str]:
    """Run nginx with the configuration that the guide gives, before `backends`; yields its address."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:{MORE_PROGRAMS}")
    if program is None:
        raise ServerMissing("nginx is not installed. Install the package nginx-light.")
    upstream, locations = re.findall(
        r"^```nginx\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    for documented, backend in zip(re.findall(r"10\.0\.0\.\d+:8000", upstream), backends, strict=True):
        upstream = upstream.replace(documented, backend.removeprefix("http://"))
    port = spare_port()
    home = folder / "nginx"
    home.mkdir()
    passing = "".join(
        f"{what}_temp_path {home / what};\n" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    account = "user root;\n" if os.geteuid() == 0 else ""
    configuration = home / "nginx.conf"
    configuration.write_text(
        f"{account}daemon off;\nworker_processes 1;\npid {home / 'pid'};\nerror_log {home / 'error.log'};\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{passing}{upstream}\n"
        # Its default is the host without the port, which the site needs here.
        f"server {{\nlisten 127.0.0.1:{port};\n{locations.replace('$host;', '$http_host;')}\n}}\n}}\n",
        encoding="utf-8",
    )
    command = [program, "-p", str(home), "-c", str(configuration), "-e", str(home / "error.log")]
    with running(command, environment=os.environ, log=home / "out.log"):
        wait_until(lambda: is_listened_at(port), seconds=STOP_SECONDS, why=(home / "error.log").read_text)
        yield f"http://127.0.0.1:{port}"

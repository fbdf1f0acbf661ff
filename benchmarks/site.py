"""Shared parts of benchmarks: a site under gunicorn, a description of the machine, percentiles."""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import httpx

from tests.servers import spare_port

PRODUCTION = "gunicorn.conf.py"
ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60
STOP_SECONDS = 20


@dataclass(frozen=True)
class Site:
    port: int
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def worker_pids(self) -> list[int]:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(child) for child in children.split()]

    def worker_megabytes(self) -> float:
        """Return the resident memory of the largest worker."""
        sizes = [Path(f"/proc/{child}/statm").read_text().split()[1] for child in self.worker_pids()]
        return max(int(pages) for pages in sizes) * os.sysconf("SC_PAGE_SIZE") / 1_000_000


@contextmanager
def serve(
    application: str,
    *,
    environment: Mapping[str, str],
    workers: int,
    threads: int,
    configuration: str,
    port: int | None = None,
) -> Iterator[Site]:
    """Run `application` under gunicorn during the block, on `port` or else a free one."""
    port = port or spare_port()
    command = [
        *(sys.executable, "-m", "gunicorn", application, "--config", configuration, "--bind", f"127.0.0.1:{port}"),
        *("--worker-class", "gthread", "--workers", str(workers), "--threads", str(threads)),
        *("--keep-alive", "75", "--log-level", "warning"),
    ]
    # All requests come from this machine, so per-network limits would block them.
    unlimited = {"ARRIVALS_PER_NETWORK": "0", "PLACES_PER_NETWORK": "0"}
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **unlimited, **environment})
    site = Site(port, process)
    try:
        _wait_for(site)
        yield site
    finally:
        process.terminate()
        process.wait(timeout=STOP_SECONDS)


def _wait_for(site: Site) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            # Any response will do: the bare site has no such page.
            httpx.get(f"{site.address}/healthz", timeout=5)
            return
        except httpx.TransportError as error:
            if site.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("The web server did not start; its messages are above.") from error
            time.sleep(0.1)


def machine() -> str:
    """Return the machine and versions that a measurement belongs to."""
    models = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    packages = " ".join(f"{name} {version(name)}" for name in ("Django", "gunicorn", "psycopg"))
    return (
        f"{os.cpu_count()} cores ({models[0] if models else platform.machine()}), "
        f"Python {platform.python_version()}, {packages}"
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]

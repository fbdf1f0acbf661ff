"""A real worker with models, as somebody starts it on a machine that has no database: by the documented command."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from tests.processes import running

# What such a machine has not: whoever imports it is told so, even where this one has it.
MISSING = ("django", "config", "psycopg", "torch", "open_clip", "transformers", "diffusers", "HanTa")
SITE = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {MISSING}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""
ROOT = Path(__file__).resolve().parents[2]


def worker_environment(folder: Path, broker_url: str, **more: str) -> dict[str, str]:
    """Return all that the worker is told: nothing of a database, of Django, or of a key."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    bare = folder / "bare"
    bare.mkdir(exist_ok=True)
    (bare / "sitecustomize.py").write_text(SITE, encoding="utf-8")
    told = {"CELERY_BROKER_URL": broker_url, "LINEUP_IMAGES": str(settings.MEDIA_ROOT)}
    told["PYTHONPATH"] = f"{bare}{os.pathsep}{ROOT}"
    # Where the files of the embedded broker are.
    return kept | told | {"DATA_DIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"} | more


@contextmanager
def model_worker(
    *,
    folder: Path,
    broker_url: str,
    app: str = "predictions.worker",
    include: str = "tests.predictions.plain_scorer",
    **environment: str,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker for the length of the block, in an empty folder; its log is `folder`/models.log."""
    empty = folder / "empty"
    empty.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "celery", "-A", app, "worker", "--loglevel", "INFO"]
    with running(
        [*command, "--include", include],
        environment=worker_environment(folder, broker_url, **environment),
        log=folder / "models.log",
        folder=empty,
    ) as process:
        yield process

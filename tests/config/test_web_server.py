"""What gunicorn.conf.py makes of the processes that serve pages."""

import os
import subprocess
import sys

from config.settings import BASE_DIR

BEFORE_THE_WORKERS = """
import gc, runpy
runpy.run_path("gunicorn.conf.py")["when_ready"](None)
print(gc.get_freeze_count() > 10_000, gc.get_threshold()[0] > 700)
"""


def test_what_is_loaded_before_the_workers_is_left_out_when_they_look_for_garbage() -> None:
    # Nothing is read from it.
    environment = {**os.environ, "DATABASE_URL": "sqlite:///unused.sqlite3"}
    said = subprocess.run(
        [sys.executable, "-c", BEFORE_THE_WORKERS],
        cwd=BASE_DIR,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert said.stdout.split() == ["True", "True"]

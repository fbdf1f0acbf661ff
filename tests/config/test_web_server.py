"""What gunicorn.conf.py makes of the processes that serve pages."""

import os
import subprocess
import sys

from config.settings import BASE_DIR

BEFORE_THE_WORKERS = """
import gc, os, runpy, sys, threading
settings = runpy.run_path("gunicorn.conf.py")
import config.wsgi
print(settings["preload_app"], "annotation.views.work" in sys.modules, "workspace.api.urls" in sys.modules)
# What workers must not share.
from django.db import connection
print(connection.connection is None, threading.active_count() == 1)
# What numbers are computed with has threads of its own; a worker must do without those of the process it came from.
import numpy
size = 600
numpy.ones((size, size)) @ numpy.ones((size, size))
worker = os.fork()
if worker == 0:
    made = numpy.ones((size, size)) @ numpy.ones((size, size))
    os._exit(int(made.sum() != size**3))
print(os.waitpid(worker, 0)[1] == 0)
settings["when_ready"](None)
print(gc.get_freeze_count() > 10_000, gc.get_threshold()[0] > 700)
"""


def test_all_that_answers_is_loaded_before_the_workers_and_left_out_when_they_look_for_garbage() -> None:
    # Nothing is read from it.
    environment = {**os.environ, "DATABASE_URL": "sqlite:///unused.sqlite3"}
    said = subprocess.run(
        [sys.executable, "-c", BEFORE_THE_WORKERS],
        cwd=BASE_DIR,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=60,
    )
    assert said.stdout.split() == ["True"] * 8

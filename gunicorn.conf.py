"""Configuration of the web server; gunicorn reads it when started in this folder. README lists the settings.

Uses threads, because a request mostly waits for the database; a thread keeps its database connection between requests.
"""

import gc
import os
from typing import Any

from config.access_log import AccessLog
from config.capacity import read_processes
from config.environment import exit_on_invalid_settings, read_level, read_text
from config.logs import LINES

with exit_on_invalid_settings():
    bind = read_text("WEB_BIND", "127.0.0.1:8000")
    processes = read_processes()
    loglevel = read_level("LOG_LEVEL", "INFO").lower()
workers, threads = processes.web_workers, processes.web_threads
worker_class = "gthread"
# Load the application once with all views (config/wsgi.py), before forking: workers share its memory, and a replacement
# answers at once.
preload_app = True
# Longer than the proxy in front keeps idle connections, so that the proxy closes them.
keepalive = 75
timeout = 60
graceful_timeout = 30
worker_tmp_dir = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108 (heartbeats must not wait for a disk)

# The path without its query: entry links contain ids of people.
access_log_format = "%(m)s %(U)s %(s)s %(B)s bytes %(M)s ms"
accesslog = read_text("WEB_ACCESS_LOG") or None
logger_class = AccessLog
logconfig_dict = LINES | {
    "root": {"handlers": ["stderr"], "level": loglevel.upper()},
    "loggers": LINES["loggers"]
    | {
        "gunicorn.error": {"handlers": ["stderr"], "propagate": False, "level": loglevel.upper()},
        # gunicorn checks this level, not `accesslog`, once loggers are configured.
        "gunicorn.access": {"handlers": ["stderr"], "propagate": False, "level": "INFO" if accesslog else "ERROR"},
    },
}


def when_ready(server: Any) -> None:
    """Exclude what is loaded from garbage collection; workers inherit it, and share its memory."""
    gc.collect()
    gc.freeze()

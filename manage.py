#!/usr/bin/env python
"""The command line of the platform: `python manage.py help` lists every command."""

import os
import sys
from pathlib import Path

from django.core.management import execute_from_command_line

from simulation.demo.processes import platform_port

# What a shell may have set for another site; the demo must never touch that one's data.
OF_ANOTHER_SITE = (
    *("DATABASE_URL", "CELERY_BROKER_URL", "CACHE_URL", "MEDIA_ROOT", "SECRET_KEY", "DEBUG", "HTTPS", "BEHIND_PROXY"),
    *("TRUSTED_PROXIES", "LINEUP_IMAGES", "LINEUP_WORKER_TOKEN"),
)


def live_in_demo_folder() -> None:
    """Set the environment of a separate site with all its data in DEMO_DIR; call before the settings are loaded."""
    for name in OF_ANOTHER_SITE:
        os.environ.pop(name, None)
        os.environ.pop(f"{name}_FILE", None)
    folder = Path(os.environ.get("DEMO_DIR") or "demo-data").resolve()
    os.environ["DATA_DIR"] = str(folder)
    os.environ["STATIC_ROOT"] = str(folder / "staticfiles")
    os.environ["SITE_URL"] = f"http://127.0.0.1:{os.environ.get('DEMO_PORT', '8000')}"
    # The local platform instead of Prolific: beside the site, as simulation.demo.processes starts it.
    port = os.environ.get("DEMO_PORT", "")
    platform = platform_port(int(port) if port.isdecimal() and 0 < int(port) < 65536 else 8000)
    os.environ["PROLIFIC_ADDRESS"] = os.environ["PROLIFIC_SITE"] = f"http://127.0.0.1:{platform}"
    # What the demo's own workers can compute.
    os.environ.setdefault("MODELS_OFFERED", "onnx:demo,text-only:ngrams,image-only:colour-and-gradient")
    os.environ.setdefault("LOG_LEVEL", "WARNING")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] == ["demo"]:
        live_in_demo_folder()
    execute_from_command_line(sys.argv)

"""Benchmarks. Each starts its own servers and brokers, and uses no others."""

import os

# Celery prefers these to a program's settings, so a benchmark would take the site's messages.
for _name in [name for name in os.environ if name.startswith("CELERY_")]:
    del os.environ[_name]

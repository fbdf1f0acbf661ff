"""Benchmarks. Each starts its own servers and brokers, and reaches no others."""

import os

# Celery prefers these to a program's settings, so a benchmark would take messages of the site that they belong to.
for _name in [name for name in os.environ if name.startswith("CELERY_")]:
    del os.environ[_name]

"""Benchmarks. Each starts the servers that it needs, and none reaches a broker that it did not start."""

import os

# Celery prefers these to whatever a program says, so a benchmark would take messages of the site that they belong to.
for _name in [name for name in os.environ if name.startswith("CELERY_")]:
    del os.environ[_name]

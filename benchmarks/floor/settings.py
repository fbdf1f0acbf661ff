"""Minimal Django settings: no middleware, no templates, one application, the database of DATABASE_URL."""

import os
from urllib.parse import urlsplit

_database = urlsplit(os.environ["DATABASE_URL"])

SECRET_KEY = "for a benchmark on loopback only"
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = ["benchmarks.floor"]
ROOT_URLCONF = "benchmarks.floor.urls"
WSGI_APPLICATION = "benchmarks.floor.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": _database.hostname,
        "PORT": str(_database.port),
        "USER": _database.username,
        "NAME": _database.path[1:],
        "CONN_MAX_AGE": 600,
    }
}
USE_TZ = True

"""As little as Django needs: no middleware, no templates, one application, the database of DATABASE_URL."""

import os

from config.environment import read_database

SECRET_KEY = "for a benchmark on loopback only"
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = ["benchmarks.floor"]
ROOT_URLCONF = "benchmarks.floor.urls"
WSGI_APPLICATION = "benchmarks.floor.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {"default": read_database(os.environ["DATABASE_URL"], connection_seconds=600)}
USE_TZ = True

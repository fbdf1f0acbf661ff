import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
# Django does so at the first request, which each web worker would for itself, while somebody waits for it.
import_module(settings.ROOT_URLCONF)

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from background.clock import compare_once_a_minute

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
compare_once_a_minute()
# Otherwise each web worker does so at its first request, while somebody waits for it.
import_module(settings.ROOT_URLCONF)

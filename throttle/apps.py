from django.apps import AppConfig
from django.core.checks import register

from throttle.checks import proxies_are_named


class ThrottleConfig(AppConfig):
    name = "throttle"

    def ready(self) -> None:
        register(proxies_are_named)

from django.apps import AppConfig
from django.core.checks import register

from config.capacity import check_connections, check_memory


class SiteConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        register(check_memory)
        register(check_connections)

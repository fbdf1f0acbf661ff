from django.apps import AppConfig

from background import clock


class BackgroundConfig(AppConfig):
    name = "background"

    def ready(self) -> None:
        clock.compare_clocks()

from django.apps import AppConfig


class MakingConfig(AppConfig):
    name = "making"

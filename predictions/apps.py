from django.apps import AppConfig


class PredictionsConfig(AppConfig):
    name = "predictions"

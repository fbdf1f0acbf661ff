"""Read-only admin of predictions; to change them, import them as another version."""

from django.contrib import admin

from predictions.models import Model, Prediction
from studies.admin import ReadOnly


@admin.register(Model)
class ModelAdmin(ReadOnly, admin.ModelAdmin[Model]):
    list_display = ("name", "version", "weights", "project", "created_at")
    list_select_related = ("project",)
    search_fields = ("name", "version", "weights")


@admin.register(Prediction)
class PredictionAdmin(ReadOnly, admin.ModelAdmin[Prediction]):
    list_display = ("instance", "kind", "variant", "caption_rule", "is_right", "model", "source_file", "source_row")
    list_filter = ("model", "kind", "variant", "caption_rule", "is_right")
    list_select_related = ("instance", "model")
    search_fields = ("=instance__key",)
    show_full_result_count = False

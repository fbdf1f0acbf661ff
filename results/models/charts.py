from typing import Any

from django.db import models

from studies.models import Project, Study


class StoredChart(models.Model):
    """A chart of a project, by the hash of everything that it depends on. A worker draws it; pages only read it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="charts")
    study = models.ForeignKey(
        Study,
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
        help_text="Whose overview shows it: a newer drawing of the same name replaces it.",
    )
    digest = models.CharField(max_length=64)
    values: models.JSONField[Any, Any] = models.JSONField(help_text="The values to draw.")
    specification: models.JSONField[Any, Any] = models.JSONField(null=True, help_text="Vega-Lite.")
    svg = models.TextField(blank=True, help_text="With CSS variables as colours.")
    narrow_svg = models.TextField(blank=True, help_text="For phones; empty in rows of older versions.")
    png = models.BinaryField(null=True)
    pdf = models.BinaryField(null=True)
    drawn_at = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(db_index=True, help_text="When a page last showed it, to the day.")

    # Set by the page that shows it: the state of its job, and whether its data changed after it was drawn.
    is_failed = False
    is_old = False

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "digest"), name="chart_stored_once"),)

    def __str__(self) -> str:
        return f"{self.values.get('name', '')} of {self.project_id}"

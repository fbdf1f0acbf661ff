from typing import Any

from django.db import models

from studies.models import Project


class TrainedWeightsQuerySet(models.QuerySet["TrainedWeights"]):
    def were_trained_on(self, project: Project, *, weights: str) -> bool:
        """Whether `weights`, or those that their training began with, were trained on data of a project."""
        found = list(self.filter(weights=weights)) if weights else []
        known = set[str]()
        while found:
            if any(row.project_id == project.pk for row in found):
                return True
            bases = {row.details.get("base", "") for row in found} - known
            known |= bases
            found = list(self.filter(spec__in=bases))
        return False


class TrainedWeights(models.Model):
    """Weights that were trained on data of a project, which marks every model of the project that has them.

    The row outlives the model's own, which members rename and delete. `spec`: names the weights for workers.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="trained_weights")
    weights = models.CharField(max_length=200, db_index=True, help_text="As in `Model.weights`.")
    spec = models.CharField(max_length=300, help_text="Which model, as `predictions.scorers` reads it.")
    details: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(
        default=dict, help_text="How they came to be: data, recipe, options, base, seed, result."
    )
    trained_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True, help_text="When their file was; the mark stays.")

    objects = TrainedWeightsQuerySet.as_manager()

    class Meta:
        ordering = ("trained_at", "id")
        verbose_name_plural = "trained weights"
        constraints = (models.UniqueConstraint(fields=("project", "spec"), name="trained_weights_once_per_project"),)

    def __str__(self) -> str:
        return self.spec

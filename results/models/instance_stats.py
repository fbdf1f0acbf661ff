from django.db import models

from studies.models import Instance, Study

# Few instances have one; the index that lists them has no others.
HAS_DISAGREEMENT = models.Q(people_right=True) | models.Q(models_right=True)


class InstanceFiguresQuerySet(models.QuerySet["InstanceFigures"]):
    def disagreements(self) -> "InstanceFiguresQuerySet":
        """Return the rows of instances with a question on which people and all models disagree."""
        return self.filter(HAS_DISAGREEMENT)


class InstanceFigures(models.Model):
    """Stored statistics of an instance in a study, by which lists are filtered and sorted.

    All values are computed from answers (`results.actions.update_instance_stats`), so a lost row can be computed again.
    `KeptNumbers` has the time of the computation.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="figures", db_index=False)
    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="figures")
    outcome = models.CharField(max_length=20, help_text="One of `analytics.outcomes.Outcome`.")
    progress = models.CharField(
        max_length=20,
        default="",
        db_default="",
        help_text="Progress of all its questions: one of `analytics.outcomes.Progress`; empty if an older version "
        "counted it.",
    )
    answers = models.PositiveIntegerField(help_text="Number of counted answers.")
    agreement = models.FloatField(
        null=True,
        help_text="The share, 0 to 1, of pairs of counted answers to the same question that agree; null if no "
        "question has two answers with one label each.",
    )
    seconds = models.FloatField(
        null=True, help_text="The median time in view of the counted answers, in seconds; null if none was timed."
    )
    people_right = models.BooleanField(help_text="Whether people are right and all models wrong on some question.")
    models_right = models.BooleanField(help_text="Whether all models are right and people wrong on some question.")

    objects = InstanceFiguresQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "instance"), name="figures_once_per_study"),)
        indexes = (
            models.Index(fields=("study", "outcome", "instance"), name="figures_by_outcome"),
            models.Index(fields=("study", "progress", "instance"), name="figures_by_progress"),
            models.Index(fields=("study", "agreement", "instance"), name="figures_by_agreement"),
            models.Index(fields=("study", "seconds", "instance"), name="figures_by_seconds"),
            models.Index(fields=("study", "instance"), condition=HAS_DISAGREEMENT, name="figures_disagreements"),
        )

    def __str__(self) -> str:
        return f"{self.outcome}: {self.instance_id} in {self.study_id}"

    @property
    def percent_alike(self) -> float | None:
        """Return the agreement in percent."""
        return None if self.agreement is None else 100 * self.agreement

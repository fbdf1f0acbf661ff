from typing import Any

from django.db import models

from studies.models import Project, Study


class KeptNumbers(models.Model):
    """Numbers of a large study or project, computed in the background because that takes too long for a request.

    `fingerprint`: digest of the data behind the numbers; they are current while it equals that of the present data.
    """

    class Page(models.TextChoices):
        STUDY_RESULTS = "study_results", "Results of a study"
        STUDY_PROGRESS = "study_progress", "Progress of a study"
        STUDY_RATINGS = "study_ratings", "Ratings of a study"
        STUDY_QUESTIONS = "study_questions", "Questions of a study"
        STUDY_ANNOTATORS = "study_annotators", "Annotators of a study"
        PROJECT_PEOPLE = "project_people", "People of a project"
        PROJECT_RESULTS = "project_results", "Results of a project"
        INSTANCES = "instances", "Instances of a project"

    page = models.CharField(max_length=20, choices=Page.choices)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="kept_numbers")
    study = models.ForeignKey(Study, on_delete=models.CASCADE, null=True, blank=True, related_name="kept_numbers")
    # The column keeps its old name, which the previous version reads.
    fingerprint = models.TextField(blank=True, db_column="state")
    content: models.JSONField[Any, Any] = models.JSONField(null=True)
    as_of = models.DateTimeField(null=True, blank=True, help_text="When the data behind them was read.")
    asked_at = models.DateTimeField(
        null=True, blank=True, help_text="Unused; kept for a downgrade to an older version."
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("page", "study"), condition=models.Q(study__isnull=False), name="kept_once_per_study"
            ),
            models.UniqueConstraint(
                fields=("page", "project"), condition=models.Q(study=None), name="kept_once_per_project"
            ),
        )

    def __str__(self) -> str:
        return f"{self.page} as of {self.as_of}"

from django.conf import settings
from django.db import models

from annotation.models import Annotator
from studies.models import Project, Study


class Export(models.Model):
    """A file made in the background from what a project or one of its studies holds."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Being made"
        READY = "ready", "Ready"
        FAILED = "failed", "Failed"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="exports")
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="exports")
    release = models.ForeignKey(
        "results.Release",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="exports",
        help_text="What it is written from; without one, from what there is now.",
    )
    format = models.CharField(max_length=20)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    rows_done = models.PositiveIntegerField(default=0)
    rows_total = models.PositiveIntegerField(default=0)
    file = models.CharField(max_length=255, blank=True, help_text="Name in the storage.")
    error = models.TextField(blank=True, help_text="What went wrong, for people.")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    requested_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-requested_at",)

    def __str__(self) -> str:
        return f"{self.format} of {self.study}"


class Pseudonym(models.Model):
    """The name under which an annotator leaves in what a project exports."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="pseudonyms")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="pseudonyms")
    name = models.CharField(max_length=40)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "annotator"), name="one_pseudonym_per_project"),
            models.UniqueConstraint(fields=("project", "name"), name="pseudonym_names_one_person"),
        )

    def __str__(self) -> str:
        return self.name

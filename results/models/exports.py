from typing import Self

from django.conf import settings
from django.db import models

from annotation.models import Annotator
from background.models import Job
from studies.models import Instance, Project, Study


class ExportQuerySet(models.QuerySet["Export"]):
    def unfinished(self) -> Self:
        """Return the exports without a result: neither a file nor an error."""
        return self.filter(finished_at=None, error="")


class Export(models.Model):
    """A file written in the background from the data of a project or of one of its studies.

    It has the result: the file, or why there is none. Until then its job has the progress.
    """

    class State(models.TextChoices):
        """State for the previous version: still written, so that a downgrade is possible, but no longer read."""

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
        help_text="The release that it is written from; null for the current data.",
    )
    format = models.CharField(max_length=20)
    chosen = models.PositiveIntegerField(
        null=True, blank=True, help_text="How many instances were chosen for it; null for all of the study."
    )
    instances = models.ManyToManyField(
        Instance, related_name="+", help_text="The chosen instances, if some were chosen."
    )
    job = models.ForeignKey(
        Job,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Null for exports requested in an older version, and after the job was deleted.",
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    rows_done = models.PositiveIntegerField(default=0)
    rows_total = models.PositiveIntegerField(default=0)
    file = models.CharField(max_length=255, blank=True, help_text="File name in storage.")
    error = models.TextField(blank=True, help_text="Why there is no file, for people.")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    requested_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = ExportQuerySet.as_manager()

    class Meta:
        ordering = ("-requested_at",)

    def __str__(self) -> str:
        return f"{self.format} of {self.study}"

    @property
    def is_unmade(self) -> bool:
        return self.finished_at is None and not self.error

    @property
    def is_ready(self) -> bool:
        return self.finished_at is not None and not self.error


class Pseudonym(models.Model):
    """The name of an annotator in the exports of a project."""

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

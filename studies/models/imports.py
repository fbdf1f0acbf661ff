from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from background.models import Job
from studies.importing.base import OR_LATER
from studies.models.projects import Project
from studies.models.uploads import Upload


class ImportQuerySet(models.QuerySet["Import"]):
    def unfinished(self) -> Self:
        """Return imports without a result: neither done nor failed."""
        return self.filter(finished_at=None)


class Import(models.Model):
    """A background import and its result: what it added, or why it added nothing. Its job has the progress."""

    class Stage(models.TextChoices):
        """Current step of the worker. Only saving changes the database, in one transaction."""

        BEGINNING = "", "Opening the files"
        UNPACKING = "unpacking", "Unpacking the images"
        ROWS = "rows", "Checking rows"
        IMAGES = "images", "Checking images"
        SAVING = "saving", "Saving"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="imports")
    files: models.JSONField[list[dict[str, str]], list[dict[str, str]]] = models.JSONField(
        help_text="Path and SHA-256 of each file when the import was requested."
    )
    format = models.CharField(max_length=50)
    mapping: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(
        default=dict, blank=True, db_default={}, help_text="What each column of a table is; empty for other formats."
    )
    images_dir = models.TextField(blank=True, help_text="The folder that image names start from.")
    caption_rule = models.CharField(max_length=50)
    images_later = models.BooleanField(default=False)
    upload = models.ForeignKey(
        Upload,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The upload that brought its files; null once they are imported.",
    )
    dry_run = models.BooleanField(
        default=False, db_default=False, help_text="Whether files are only checked and nothing is added."
    )
    changes = models.ForeignKey(
        "self",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="mapping_changes",
        help_text="The import whose mapping this changes, without adding anything; null for an import of rows.",
    )
    job = models.ForeignKey(
        Job,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Null after the job was deleted.",
    )
    stage = models.CharField(max_length=10, blank=True, choices=Stage.choices, default=Stage.BEGINNING)
    summaries: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField(
        default=list, help_text="What was done with each file."
    )
    problem_count = models.PositiveBigIntegerField(default=0)
    first_problems: models.JSONField[list[str], list[str]] = models.JSONField(default=list, help_text="In sentences.")
    problems_file = models.CharField(
        max_length=255, blank=True, help_text="File name in storage of all problems, as JSON Lines."
    )
    is_without_images = models.BooleanField(
        null=True, blank=True, help_text="Whether it failed because rows name images that are not there."
    )
    error = models.TextField(blank=True, help_text="Why nothing was imported, for people.")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    by_name = models.CharField(max_length=150, help_text="Who asked: a person, or the name of a command.")
    requested_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = ImportQuerySet.as_manager()

    class Meta:
        ordering = ("-requested_at", "-pk")
        constraints = (
            models.CheckConstraint(
                condition=Q(error="") | Q(finished_at__isnull=False), name="failed_import_says_when"
            ),
        )

    def __str__(self) -> str:
        return f"{', '.join(self.names)} into {self.project}"

    @property
    def names(self) -> list[str]:
        """File names, without their folder on the server."""
        return [file["path"].rpartition("/")[2] for file in self.files]

    @property
    def is_unfinished(self) -> bool:
        return self.finished_at is None

    @property
    def lacks_images(self) -> bool:
        """Whether nothing was imported because rows name images that are not there."""
        if self.is_without_images is None:
            # Of an older version, which knew it by its sentence only.
            return bool(self.error) and any(problem.endswith(OR_LATER) for problem in self.first_problems)
        return bool(self.error) and self.is_without_images

    @property
    def current_mapping(self) -> dict[str, str]:
        """Its mapping after the last change."""
        made = [each for each in self.mapping_changes.all() if each.finished_at is not None and not each.error]
        last = max(made, key=lambda each: (each.finished_at, each.pk), default=self)
        return dict(last.mapping)

    @property
    def has_mapping(self) -> bool:
        """Whether it added instances, by a mapping of the columns of a table."""
        if not self.mapping or self.changes_id is not None or self.is_unfinished or self.error or self.dry_run:
            return False
        return any(summary["added"] for summary in self.summaries)

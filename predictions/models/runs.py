from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from studies.models import Project, Study

PICTURE = "picture"


class Conditions(models.Model):
    """Conditions of scores: the loaded model, number type, batch shape and libraries.

    One row per distinct conditions, identified by the digest of its details and never changed.
    """

    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the details as canonical JSON.")
    details: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField()

    class Meta:
        verbose_name_plural = "conditions"

    def __str__(self) -> str:
        return self.digest[:12]


class RunQuerySet(models.QuerySet["Run"]):
    def unfinished(self) -> Self:
        return self.filter(state__in=Run.UNFINISHED)


class Run(models.Model):
    """A request for a model's scores of a study's questions or, without a study, of a kind's about all instances.

    It is planned once a worker has loaded and identified the model: then the questions without a prediction of it are
    known and divided into chunks.
    """

    class State(models.TextChoices):
        LOADING = "loading", "Loading the model"
        RUNNING = "running", "Scoring"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    UNFINISHED = (State.LOADING, State.RUNNING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    spec = models.CharField(max_length=300, help_text="Which model, as `predictions.scorers` reads it.")
    study = models.ForeignKey(Study, on_delete=models.CASCADE, null=True, blank=True, related_name="runs")
    kind = models.CharField(max_length=30, blank=True, help_text="Without a study: the kind of its questions.")
    variant = models.CharField(
        max_length=50, blank=True, help_text="Without a study: the variant of its questions; empty for all."
    )
    model = models.ForeignKey(
        "predictions.Model",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="runs",
        help_text="Known once a worker has loaded it.",
    )
    embedding: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True,
        blank=True,
        help_text="For a baseline that sees image embeddings: the model that computes them, as a worker loaded it.",
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.LOADING)
    error = models.TextField(blank=True, help_text="Why it failed, for people.")
    sent_at = models.DateTimeField(null=True, blank=True, help_text="When a worker was last asked to load the model.")
    begun = models.PositiveSmallIntegerField(default=0, help_text="How often a worker has begun to load it.")
    already_there = models.PositiveIntegerField(default=0, help_text="Questions that had a prediction before.")
    left_out = models.PositiveIntegerField(default=0, help_text="Questions that cannot be scored.")
    why_left_out: models.JSONField[list[str], list[str]] = models.JSONField(
        default=list, help_text="As sentences; only the first ones if there are many."
    )
    total = models.PositiveIntegerField(default=0, help_text="Questions in its chunks.")
    stored = models.PositiveIntegerField(default=0, help_text="Of these, how many have been scored.")
    wrong = models.PositiveIntegerField(default=0, help_text="Of these, how many could not be scored.")
    unreachable_since = models.DateTimeField(
        null=True, blank=True, help_text="When its images became unreachable; null while they can be reached."
    )
    unreachable = models.TextField(
        blank=True, default="", db_default="", help_text="Why its images cannot be reached, as a sentence."
    )
    paused_until = models.DateTimeField(null=True, blank=True, help_text="When unreachable images are tried again.")
    pauses = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="How often they were tried in vain, one after another."
    )
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    by_name = models.CharField(max_length=150, help_text="Who asked: a person, or the name of a command.")
    requested_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True, help_text="When its chunks were first sent, or again.")
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ("-requested_at", "-pk")
        constraints = (
            models.CheckConstraint(
                condition=Q(study__isnull=False, kind="", variant="") | (Q(study=None) & ~Q(kind="")),
                name="run_is_of_a_study_or_of_a_kind",
            ),
            models.CheckConstraint(condition=~Q(state="failed") | ~Q(error=""), name="failed_run_says_why"),
            models.CheckConstraint(
                condition=Q(state__in=("loading", "running"), finished_at=None)
                | (~Q(state__in=("loading", "running")) & Q(finished_at__isnull=False)),
                name="finished_run_says_when",
            ),
        )

    def __str__(self) -> str:
        return f"{self.spec} on {self.about}"

    @property
    def about(self) -> str:
        """The questions of the run, in a few words."""
        return self.study.slug if self.study else f"{self.kind} {self.variant}".strip()

    @property
    def is_unfinished(self) -> bool:
        return self.state in self.UNFINISHED


class ChunkQuerySet(models.QuerySet["Chunk"]):
    def of_pictures(self) -> Self:
        return self.filter(items__0__has_key=PICTURE)


class Chunk(models.Model):
    """Some questions of a run, sent to a worker in one message and stored in one transaction.

    `items`: references to the questions; their content is looked up when they are sent. For a baseline that sees image
    embeddings, chunks of images come first: their items name images, and why one has no vector.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField(help_text="From 1, in the order in which they are sent.")
    items: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField(
        help_text="Of each question: instance, kind, variant, content (its hash), question (0 without a study). "
        "Or of each picture: picture (SHA-256), and error where it has no vector."
    )
    sent_at = models.DateTimeField(null=True, blank=True)
    begun = models.PositiveSmallIntegerField(default=0, help_text="How often a worker has begun it.")
    stored_at = models.DateTimeField(null=True, blank=True)
    stored = models.PositiveIntegerField(default=0, help_text="How many of its questions have been scored.")
    problems: models.JSONField[list[str], list[str]] = models.JSONField(
        default=list, help_text="A sentence for each of its questions that could not be scored."
    )

    objects = ChunkQuerySet.as_manager()

    class Meta:
        ordering = ("run_id", "number")
        constraints = (models.UniqueConstraint(fields=("run", "number"), name="chunk_number_once_per_run"),)
        indexes = (models.Index(fields=("sent_at",), condition=Q(stored_at=None), name="chunks_that_are_not_stored"),)

    def __str__(self) -> str:
        return f"chunk {self.number} of run {self.run_id}"

    @property
    def pictures(self) -> list[str]:
        """Return the images to embed, none in a chunk of questions."""
        return [item[PICTURE] for item in self.items if PICTURE in item]

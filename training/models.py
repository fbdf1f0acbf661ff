from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from background.models import Job
from making.tokens import Cost
from studies.models import Project

LONGEST_NAME = 60
LONGEST_PHASE = 100


class TrainingRunQuerySet(models.QuerySet["TrainingRun"]):
    def unfinished(self) -> Self:
        return self.filter(state__in=TrainingRun.UNFINISHED)

    def with_workers(self) -> Self:
        """Select the runs that a worker with models trains, or is to train."""
        return self.filter(state__in=TrainingRun.WITH_WORKERS)


class TrainingRun(models.Model):
    """A request to train a model on data of a project.

    A job of the site writes the examples and checks them for leaks; then a worker with models trains. Its plan never
    changes. `attempt`: counts the messages that asked a worker to begin or to go on; workers of earlier attempts stop.
    """

    class State(models.TextChoices):
        PREPARING = "preparing", "Preparing the examples"
        WAITING = "waiting", "Waiting for a worker with models"
        TRAINING = "training", "Training"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    class Source(models.TextChoices):
        PROJECT = "project", "Accepted items of the project"
        RELEASE = "release", "Release"

    WITH_WORKERS = (State.WAITING, State.TRAINING)
    UNFINISHED = (State.PREPARING, *WITH_WORKERS)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="training_runs")
    name = models.CharField(max_length=LONGEST_NAME, help_text="Lower-case letters, digits and hyphens.")
    folder = models.CharField(max_length=100, unique=True, help_text="Its folder on the worker.")
    recipe = models.CharField(max_length=50)
    recipe_version = models.CharField(max_length=20)
    options: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(
        default=dict, help_text="All options of the recipe, with their defaults."
    )
    base = models.CharField(max_length=300, help_text="The model that training begins with, as a spec.")
    seed = models.BigIntegerField(default=0)
    source = models.CharField(max_length=10, choices=Source.choices)
    release_id = models.BigIntegerField(null=True, blank=True, help_text="Releases are of a room above.")
    release_name = models.CharField(max_length=40, blank=True)
    release_sha256 = models.CharField(max_length=64, blank=True)
    job = models.ForeignKey(
        Job, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", help_text="It prepares the examples."
    )
    files: models.JSONField[dict[str, dict[str, Any]], dict[str, dict[str, Any]]] = models.JSONField(
        default=dict, help_text="Part (training, validation) -> name in storage, sha256 and number of its examples."
    )
    leaks: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(
        default=dict, help_text="What the check for leaks found, before the first step."
    )
    withdrawals = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of people of the project, before its examples were read."
    )
    protections = models.PositiveIntegerField(
        null=True, blank=True, help_text="Events that protect more from training, before its examples were read."
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.PREPARING)
    error = models.TextField(blank=True, help_text="Why it failed, for people.")
    attempt = models.PositiveIntegerField(default=0, help_text="How often a worker was asked.")
    begun_attempt = models.PositiveIntegerField(default=0, help_text="The last attempt that a worker has begun.")
    fruitless = models.PositiveSmallIntegerField(default=0, help_text="Attempts begun since it last came further.")
    sent_at = models.DateTimeField(null=True, blank=True, help_text="When a worker was last asked.")
    beat_at = models.DateTimeField(null=True, blank=True, help_text="The last sign of life of its worker.")
    step = models.PositiveIntegerField(default=0)
    steps = models.PositiveIntegerField(default=0, help_text="0 while unknown.")
    seconds = models.FloatField(default=0, help_text="Time on the device, of all attempts.")
    attempt_seconds = models.FloatField(default=0, help_text="Of these, of the last attempt.")
    seconds_left = models.FloatField(null=True, blank=True)
    phase = models.CharField(
        max_length=LONGEST_PHASE, blank=True, db_default="", default="", help_text="What its worker does between steps."
    )
    losses: models.JSONField[dict[str, float], dict[str, float]] = models.JSONField(
        default=dict, help_text="Of its last step."
    )
    score = models.FloatField(null=True, blank=True, help_text="The last one on the validation set, from 0 to 1.")
    best_score = models.FloatField(null=True, blank=True)
    sentences: models.JSONField[list[str], list[str]] = models.JSONField(
        default=list, help_text="What people should know about it."
    )
    peak_memory = models.PositiveBigIntegerField(default=0, help_text="Bytes of the device.")
    hour_price = models.DecimalField(max_digits=9, decimal_places=2, null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True)
    result: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(
        default=dict, help_text="Of a trained model: spec, identity, device, libraries, and what the recipe tells."
    )
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    by_name = models.CharField(max_length=150, help_text="Who asked: a person, or the name of a command.")
    requested_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = TrainingRunQuerySet.as_manager()

    class Meta:
        ordering = ("-requested_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="training_run_once_per_project"),
            models.CheckConstraint(condition=~Q(state="failed") | ~Q(error=""), name="failed_training_run_says_why"),
            models.CheckConstraint(
                condition=Q(state__in=("preparing", "waiting", "training"), finished_at=None)
                | (~Q(state__in=("preparing", "waiting", "training")) & Q(finished_at__isnull=False)),
                name="finished_training_run_says_when",
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def is_unfinished(self) -> bool:
        return self.state in self.UNFINISHED

    @property
    def can_resume(self) -> bool:
        return self.state in {self.State.FAILED, self.State.CANCELLED}

    @property
    def data(self) -> str:
        """The data that it is trained on, in a few words."""
        return f"release {self.release_name}" if self.source == self.Source.RELEASE else "accepted items"

    @property
    def has_examples(self) -> bool:
        """Whether the files of its examples are there: not before they are prepared, nor long after its end."""
        return bool(self.files) and all(part["file"] for part in self.files.values())

    def count(self, part: str) -> int:
        """Return the number of examples of a part; 0 before they are prepared."""
        return int(self.files.get(part, {}).get("examples", 0))

    @property
    def left(self) -> timedelta | None:
        return None if self.seconds_left is None else timedelta(seconds=self.seconds_left)

    @property
    def cost(self) -> Cost | None:
        """Return the price of the device so far; None without a price."""
        return self._cost_of(self.seconds)

    @property
    def expected_cost(self) -> Cost | None:
        """Return the price of the device until the end of training; None if it is unknown."""
        return None if self.seconds_left is None else self._cost_of(self.seconds + self.seconds_left)

    def _cost_of(self, seconds: float) -> Cost | None:
        if self.hour_price is None or not seconds:
            return None
        return Cost(self.hour_price * Decimal(str(seconds)) / 3600, self.currency)


class TrainingPoint(models.Model):
    """Measurements of a training run at one step: the losses, the score on the validation set, or both.

    A step that was repeated after a lost worker keeps its first measurements.
    """

    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="curve")
    step = models.PositiveIntegerField()
    losses: models.JSONField[dict[str, float], dict[str, float]] = models.JSONField(
        default=dict, help_text="Parts of the loss by name, and their sum as loss."
    )
    score = models.FloatField(null=True, help_text="On the validation set, from 0 to 1.")

    class Meta:
        ordering = ("run_id", "step")
        constraints = (models.UniqueConstraint(fields=("run", "step"), name="training_point_once_per_step"),)

    def __str__(self) -> str:
        return f"step {self.step} of {self.run_id}"


class DiscardedFolderQuerySet(models.QuerySet["DiscardedFolder"]):
    def due(self, before: datetime) -> Self:
        """Select those that no worker was asked to delete since `before`."""
        return self.filter(Q(asked_at=None) | Q(asked_at__lt=before))


class DiscardedFolder(models.Model):
    """The folder of a deleted training run on its worker, until a worker says that it has deleted it."""

    folder = models.CharField(max_length=100, unique=True)
    discarded_at = models.DateTimeField(help_text="When the run was deleted.")
    asked_at = models.DateTimeField(null=True, blank=True, help_text="When workers were last asked to delete it.")

    objects = DiscardedFolderQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.folder

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q


class JobState(models.TextChoices):
    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


UNFINISHED = (JobState.WAITING, JobState.RUNNING)


class Job(models.Model):
    """A piece of background work that somebody requested: its progress and its end.

    This row is the record of the work; a message of the broker only says "now".
    """

    kind = models.CharField(max_length=50, help_text="The name of a registered piece of work.")
    arguments: models.JSONField[dict[str, int], dict[str, int]] = models.JSONField(
        default=dict, help_text="Ids of the rows that it works on, by argument name."
    )
    key = models.CharField(
        max_length=100, blank=True, help_text="If it is not empty, at most one unfinished job of this kind has it."
    )
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.WAITING)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0, help_text="0 while unknown.")
    unit = models.CharField(max_length=20, blank=True, help_text="What is counted, in the plural: rows.")
    step: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(
        default=dict, help_text="Where the next worker continues; empty for the beginning."
    )
    attempts = models.PositiveIntegerField(default=0, help_text="How often a worker has begun; the last one has it.")
    fruitless = models.PositiveIntegerField(default=0, help_text="Starts since it last reached another step.")
    message = models.CharField(max_length=64, blank=True, help_text="The message that brought it to its worker.")
    error = models.TextField(blank=True, help_text="Why it failed, for people.")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    asked_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True, help_text="When the first worker began.")
    beat_at = models.DateTimeField(null=True, blank=True, help_text="The last sign of life of its worker.")
    cancel_asked_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("kind", "key"),
                condition=Q(state__in=UNFINISHED) & ~Q(key=""),
                name="one_unfinished_job_of_a_key",
            ),
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="job_state_is_known"),
            models.CheckConstraint(
                condition=~Q(state=JobState.RUNNING)
                | Q(started_at__isnull=False, beat_at__isnull=False, attempts__gt=0),
                name="running_job_has_a_worker",
            ),
            models.CheckConstraint(
                condition=Q(state__in=UNFINISHED, finished_at=None)
                | (~Q(state__in=UNFINISHED) & Q(finished_at__isnull=False)),
                name="finished_job_says_when",
            ),
            models.CheckConstraint(condition=~Q(state=JobState.FAILED) | ~Q(error=""), name="failed_job_says_why"),
        )
        indexes = (models.Index(fields=("asked_at",), condition=Q(state__in=UNFINISHED), name="unfinished_jobs"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}, {self.state}"

    @property
    def is_unfinished(self) -> bool:
        return self.state in UNFINISHED

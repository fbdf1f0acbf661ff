from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from background.models import Job
from studies.models import Image, Instance, Project


class Pipeline(models.Model):
    """A pipeline that makes candidates in a project, or its trial on a few texts, which makes no instances.

    `source`: its pipeline file, as it was given; it never changes, so that candidates keep their history. A new trial
    replaces the last one of its name.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="pipelines")
    name = models.CharField(max_length=50)
    source = models.TextField()
    is_trial = models.BooleanField(default=False)
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    by_name = models.CharField(max_length=150, help_text="Who asked: a person, or the name of a command.")
    requested_at = models.DateTimeField()
    waits_for = models.CharField(
        max_length=50, blank=True, help_text="The stage that workers with models make or judge at the moment."
    )
    error = models.TextField(blank=True, help_text="Why a worker with models could not go on, for people.")
    stopped_at = models.DateTimeField(null=True, blank=True, help_text="When it was cancelled.")
    finished_at = models.DateTimeField(null=True, blank=True, help_text="When all its candidates were made.")
    texts_known_at = models.DateTimeField(
        null=True, blank=True, help_text="When the captions of the project were noted, for its filters."
    )
    collected_at = models.DateTimeField(
        null=True, blank=True, help_text="When it last began to read what people decided; empty before it asked them."
    )

    class Meta:
        ordering = ("requested_at", "id")
        constraints = (
            models.UniqueConstraint(fields=("project", "name", "is_trial"), name="pipeline_once_per_project"),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def instances(self) -> models.QuerySet[Instance]:
        """The instances that it made, also those that its studies ask about."""
        return self.project.instances.filter(source_file=f"{self.name}.yaml", reference__made__pipeline=self.name)

    @property
    def is_unfinished(self) -> bool:
        if self.waits_for and not self.error and self.stopped_at is None:
            return True
        return self.job is not None and self.job.is_unfinished

    @property
    def problem(self) -> str:
        """Why it failed, "" if it did not."""
        return self.error or (self.job.error if self.job is not None else "")

    @property
    def waits_for_people(self) -> bool:
        """Whether it has done all that it can before people decide more."""
        has_stopped = self.stopped_at is not None or self.finished_at is not None or bool(self.problem)
        return self.collected_at is not None and not has_stopped and not self.is_unfinished

    @property
    def can_go_on(self) -> bool:
        """Whether it stopped early."""
        return self.finished_at is None and not self.is_unfinished and not self.waits_for_people


class UsedMaker(models.Model):
    """A maker as it was used in a project: name, version, weights and options; never changed."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    version = models.CharField(max_length=200)
    weights = models.CharField(max_length=64, blank=True, help_text="SHA-256 of its numbers; empty without a model.")
    options: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    digest = models.CharField(max_length=64, help_text="SHA-256 of all these as canonical JSON.")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "digest"), name="used_maker_once_per_project"),)

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Candidate(models.Model):
    """A text or an image that a stage of a pipeline made, kept or rejected; or a text that a pipeline began with.

    `start_key`: the key of the instance that its chain began with, which stays when the instance goes. `number`: from
    1, among those made from the same parent. A candidate that was not made has neither text nor image, and says why.
    One that waits has not passed all filters yet, and nothing is made from it before.
    """

    class State(models.TextChoices):
        WAITS = "waits", "Waits"
        KEPT = "kept", "Kept"
        REJECTED = "rejected", "Rejected"
        NOT_MADE = "not_made", "Not made"

    pipeline = models.ForeignKey(Pipeline, on_delete=models.CASCADE, related_name="candidates")
    stage = models.CharField(max_length=50)
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="children")
    number = models.PositiveSmallIntegerField(default=1)
    start = models.ForeignKey(Instance, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    start_key = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    digest = models.CharField(max_length=32, blank=True, help_text="Of its words: `making.texts.digest_of_words`.")
    image = models.ForeignKey(Image, on_delete=models.RESTRICT, null=True, blank=True, related_name="candidates")
    maker = models.ForeignKey(UsedMaker, on_delete=models.RESTRICT, null=True, blank=True, related_name="candidates")
    seed = models.BigIntegerField(null=True, blank=True)
    prompt = models.TextField(blank=True, help_text="What a model was told.")
    answer = models.TextField(blank=True, help_text="What a model said that could not be used, its beginning.")
    prompt_tokens = models.PositiveIntegerField(default=0, help_text="What a language model read for it.")
    completion_tokens = models.PositiveIntegerField(default=0, help_text="What a language model wrote for it.")
    state = models.CharField(max_length=10, choices=State.choices)
    rejected_by = models.CharField(max_length=50, blank=True, help_text="The filter that rejected it.")
    reason = models.TextField(blank=True, help_text="Why it was rejected or not made, as a sentence.")
    scores: models.JSONField[dict[str, float], dict[str, float]] = models.JSONField(
        default=dict, help_text="Filter -> what it measured."
    )
    instance = models.ForeignKey(
        Instance, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", help_text="What became of it."
    )
    made_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("pipeline", "stage", "parent", "number"), name="candidate_once_per_parent"),
            models.UniqueConstraint(
                fields=("pipeline", "start_key"), condition=Q(stage="start"), name="one_start_per_instance"
            ),
            models.CheckConstraint(
                condition=Q(state__in=("kept", "waits"), reason="") | (~Q(state__in=("kept", "waits")) & ~Q(reason="")),
                name="candidate_says_why_it_is_not_kept",
            ),
        )
        indexes = (
            models.Index(fields=("pipeline", "stage", "state", "id"), name="candidates_of_a_stage"),
            models.Index(fields=("pipeline", "stage", "digest"), name="candidates_with_these_words"),
        )

    def __str__(self) -> str:
        return f"{self.stage} {self.number} of {self.start_key}"


class Batch(models.Model):
    """Some candidates for a worker with models, sent in one message; its answer is stored in one transaction.

    `filter_number`: 0 if the worker makes others from them; else the place of the filter, from 1, that judges them.
    `parents`: ids of candidates.
    """

    pipeline = models.ForeignKey(Pipeline, on_delete=models.CASCADE, related_name="batches")
    stage = models.CharField(max_length=50)
    filter_number = models.PositiveSmallIntegerField(default=0)
    number = models.PositiveIntegerField(help_text="From 1, in the order in which they are sent.")
    parents: models.JSONField[list[int], list[int]] = models.JSONField()
    sent_at = models.DateTimeField(null=True, blank=True)
    begun = models.PositiveSmallIntegerField(default=0, help_text="How often a worker has begun it.")
    stored_at = models.DateTimeField(null=True, blank=True)
    lost_tokens: models.JSONField[dict[str, list[int]] | None, dict[str, list[int]] | None] = models.JSONField(
        null=True,
        blank=True,
        help_text="Answer of a worker that failed -> tokens that a language model read and wrote for it.",
    )

    class Meta:
        ordering = ("pipeline_id", "stage", "filter_number", "number")
        constraints = (
            models.UniqueConstraint(
                fields=("pipeline", "stage", "filter_number", "number"), name="batch_once_per_step"
            ),
        )

    def __str__(self) -> str:
        return f"batch {self.number} of {self.stage}"


class UsedFilter(models.Model):
    """A filter as it judged the candidates of a stage. `note`: what it found about the stage as a whole."""

    pipeline = models.ForeignKey(Pipeline, on_delete=models.CASCADE, related_name="used_filters")
    stage = models.CharField(max_length=50)
    number = models.PositiveSmallIntegerField(help_text="Its place among the filters of the stage, from 1.")
    name = models.CharField(max_length=50)
    version = models.CharField(max_length=200)
    weights = models.CharField(max_length=64, blank=True, help_text="SHA-256 of its numbers; empty without a model.")
    note = models.TextField(blank=True)

    class Meta:
        ordering = ("pipeline_id", "stage", "number", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("pipeline", "stage", "number", "version", "weights"), name="used_filter_once_per_stage"
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} of {self.stage}"


class KnownText(models.Model):
    """The digest of the words of a caption that the project had when a pipeline began (`Candidate.digest`)."""

    pipeline = models.ForeignKey(Pipeline, on_delete=models.CASCADE, related_name="known_texts")
    digest = models.CharField(max_length=32)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("pipeline", "digest"), name="known_text_once_per_pipeline"),)

    def __str__(self) -> str:
        return self.digest

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from django.db import models
from django.db.models import Case, Count, Max, Q, SmallIntegerField, Value, When

from predictions.models.runs import Conditions
from predictions.models.trained_weights import TrainedWeights
from studies.kinds import FINER_SCORES
from studies.models import Instance, Project


class InstanceOutcomes(NamedTuple):
    """A model's outcomes on one instance: right, wrong, or None if it was not asked.

    `ipos2t`, `ineg2t`: the caption of the positive and the negative image; `tpos2i`, `tneg2i`: the image of the
    positive and the negative caption. The names are those of `analytics.scores.Outcomes`.
    """

    instance: int
    key: str
    type: str
    subtype: str
    ipos2t: bool | None
    ineg2t: bool | None
    tpos2i: bool | None
    tneg2i: bool | None


QUESTIONS = {score.lower(): question for score, question in FINER_SCORES.items()}


LONGEST = {"name": 100, "version": 100, "weights": 200}


_DIGEST = re.compile(r"[0-9a-f]{64}")
DIGITS_SHOWN = 12
TRAINED_HERE = "trained on this project"


class Evaluation(NamedTuple):
    """Predictions of one model with captions made by one rule, which form one row of a table.

    `verified`: the number of predictions with a content hash; the others come from files that name no images.
    """

    model: "Model"
    caption_rule: str
    instances: int
    verified: int = 0


class ModelQuerySet(models.QuerySet["Model"]):
    def with_predictions(self, project: Project) -> "ModelQuerySet":
        """Return the models of the project that have predictions."""
        return self.filter(models.Exists(Prediction.objects.filter(model=models.OuterRef("pk"))), project=project)

    def get_or_create_named(self, project: Project, *, now: datetime, **identity: str) -> "Model":
        """Return the project's model with this `name`, `version` and `weights`; create it if there is none."""
        found = self.filter(project=project, **identity).first()
        model = found or self.get_or_create(project=project, **identity, defaults={"created_at": now})[0]
        weights = identity.get("weights", "")
        # Asked of known ones, too: earlier versions did not look at what a model was trained from.
        if not model.is_trained_here and TrainedWeights.objects.were_trained_on(project, weights=weights):
            model.is_trained_here = True
            model.save(update_fields=["is_trained_here"])
        return model

    def get_or_create_computed(
        self, project: Project, *, name: str, version: str, weights: str, now: datetime
    ) -> "Model":
        """Return the project's model that a worker knows by this name, version and weights; create it if there is none.

        Members may have renamed it since.
        """
        renamed = self.filter(project=project, first_name=name, first_version=version, weights=weights).first()
        return renamed or self.get_or_create_named(project, now=now, name=name, version=version, weights=weights)


class Model(models.Model):
    """A model of a project, identified there by name, version and weights: different weights are a different model.

    The same model in another project is a separate row, because members rename and delete only their own. `project` is
    null only in rows that the previous version made during an upgrade, and in models without predictions.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, related_name="models")
    name = models.CharField(max_length=LONGEST["name"])
    version = models.CharField(max_length=LONGEST["version"], blank=True)
    weights = models.CharField(
        max_length=LONGEST["weights"], blank=True, help_text="Tag or hash that identifies its weights."
    )
    first_name = models.CharField(
        max_length=LONGEST["name"],
        blank=True,
        default="",
        db_default="",
        help_text="Name before a rename, which workers still use; empty if it was never renamed.",
    )
    first_version = models.CharField(max_length=LONGEST["version"], blank=True, default="", db_default="")
    is_trained_here = models.BooleanField(
        default=False, db_default=False, help_text="Whether its weights were trained on data of this project."
    )
    created_at = models.DateTimeField()

    objects = ModelQuerySet.as_manager()

    class Meta:
        ordering = ("name", "version", "weights")
        constraints = (
            models.UniqueConstraint(fields=("project", "name", "version", "weights"), name="model_once_in_project"),
        )

    def __str__(self) -> str:
        weights = self.short_weights
        name = " ".join(part for part in (self.name, self.version, weights and f"({weights})") if part)
        # Wherever its scores stand.
        return f"{name}, {TRAINED_HERE}" if self.is_trained_here else name

    @property
    def identity(self) -> dict[str, str]:
        """Return name, version and weights, as workers report them."""
        names = (self.first_name, self.first_version) if self.first_name else (self.name, self.version)
        return {"name": names[0], "version": names[1], "weights": self.weights}

    @property
    def short_weights(self) -> str:
        """Return the weights' tag, or the beginning of their digest."""
        return self.weights[:DIGITS_SHOWN] if _DIGEST.fullmatch(self.weights) else self.weights


class PredictionQuerySet(models.QuerySet["Prediction"]):
    def about(self, project: Project) -> "PredictionQuerySet":
        return self.filter(instance__project=project)

    def counted(self) -> "PredictionQuerySet":
        """Select predictions whose options match their question; only these enter numbers."""
        return self.filter(problem="")

    def mismatched(self) -> "PredictionQuerySet":
        """Select predictions whose options do not match their question."""
        return self.exclude(problem="")

    def evaluations(self) -> list[Evaluation]:
        """Return the predictions grouped for tables, by model and caption rule, with the number of instances."""
        groups = self.order_by("model__name", "model__version", "model__weights", "caption_rule").values_list(
            "model", "caption_rule"
        )
        verified = Count("pk", filter=~Q(content_hash=""))
        counted = list(groups.annotate(instances=Count("instance", distinct=True), verified=verified))
        models_by_id = Model.objects.in_bulk({model for model, *_ in counted})
        return [Evaluation(models_by_id[model], *rest) for model, *rest in counted]

    def outcomes(self, *, model: Model, caption_rule: str) -> Iterator[InstanceOutcomes]:
        """Stream one row per instance that the model was asked about, in the order of the instances."""
        rows = (
            self.filter(model=model, caption_rule=caption_rule)
            .order_by("instance_id")
            .values_list("instance_id", "instance__key", "instance__type", "instance__subtype")
            .annotate(**{name: _outcome(kind, variant) for name, (kind, variant) in QUESTIONS.items()})
        )
        for row in rows.iterator():
            yield InstanceOutcomes(*row[:4], *(None if value is None else bool(value) for value in row[4:]))


def _outcome(kind: str, variant: str) -> Max:
    """Return 1 or 0 for right or wrong: not every database has a maximum of truth values."""
    asked = Q(kind=kind, variant=variant)
    return Max(
        Case(
            When(asked & Q(is_right=True), then=Value(1)),
            When(asked & Q(is_right=False), then=Value(0)),
            output_field=SmallIntegerField(),
        )
    )


class Prediction(models.Model):
    """A model's answer to one question about an instance, in the terms of `studies.kinds`.

    `scores`: key of every option -> the model's score, null if the source gives outcomes only. `is_right`: null if the
    right answer is unknown; a right option that ties with another is wrong. `caption_rule`: made the captions that the
    model read; captions formatted otherwise are a different question. `content_hash`: what the model was shown
    (`studies.kinds.content_hash`); empty for files that name no images, whose content cannot be verified.
    """

    model = models.ForeignKey(Model, on_delete=models.CASCADE, related_name="predictions")
    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="predictions")
    kind = models.CharField(max_length=30)
    variant = models.CharField(max_length=30, blank=True)
    caption_rule = models.CharField(max_length=50)
    content_hash = models.CharField(max_length=64, blank=True, default="", db_default="")
    scores = models.JSONField(null=True)
    is_right = models.BooleanField(null=True)
    problem = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Why its options do not match its question, so that it is not counted; empty if they match.",
    )
    conditions = models.ForeignKey(
        Conditions,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="predictions",
        help_text="The conditions of its computation; null if it comes from a file.",
    )
    source_file = models.CharField(max_length=255, blank=True, help_text="Empty if it was computed by the site.")
    source_row = models.PositiveIntegerField(
        help_text="Record number in the source file, from 1, header not counted; 0 where it was computed here."
    )
    created_at = models.DateTimeField()

    objects = PredictionQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("model", "instance", "kind", "variant", "caption_rule", "content_hash"),
                name="one_prediction_per_model_and_content",
            ),
            models.CheckConstraint(
                condition=Q(scores__isnull=False) | Q(is_right__isnull=False), name="prediction_says_something"
            ),
        )
        indexes = (
            # Mismatched predictions are few, and looked up on every store.
            models.Index(fields=("model",), condition=~Q(problem=""), name="mismatched_predictions"),
            # With all columns of its condition, or SQLite would still read the rows to count them.
            models.Index(
                fields=("model", "content_hash", "problem"),
                condition=Q(content_hash="", problem=""),
                name="declared_predictions",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.variant} of {self.instance_id}"

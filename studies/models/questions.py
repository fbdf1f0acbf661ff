from typing import Any

from django.db import models

from studies.models.instances import Instance
from studies.models.studies import Study


class Check(models.TextChoices):
    """What a question checks. The answers to it count nowhere."""

    GOLD = "gold", "Gold question"
    INSTRUCTION = "instruction", "Instruction check"
    REPEAT = "repeat", "Repeated question"


class OrdinaryQuestions(models.Manager["Question"]):
    """Leaves checks out, so that no number, report, model run, export or decision reads them."""

    def get_queryset(self) -> models.QuerySet["Question"]:
        return super().get_queryset().filter(check_type="")


class Question(models.Model):
    """A question of a study about one instance.

    It may also have a source, such as a response of another study: an opaque type and id, with its content. `content`
    is frozen at launch by the kind (see `studies.kinds`), so that one read serves the question and later changes of
    the instance do not affect it.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="questions")
    instance = models.ForeignKey(Instance, on_delete=models.PROTECT, related_name="questions")
    kind = models.CharField(max_length=30)
    variant = models.CharField(
        max_length=50, blank=True, help_text="Which of the kind's questions about the instance; empty if just one."
    )
    part = models.PositiveSmallIntegerField(default=0, help_text="From 0: the part of the survey it stands in.")
    content: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField()
    right = models.CharField(max_length=100, blank=True, help_text="The right option, where one is known.")
    right_answer: models.JSONField[Any, Any] = models.JSONField(
        null=True, blank=True, help_text="The right answer if it is not a single option, else null."
    )
    item = models.CharField(
        max_length=50,
        blank=True,
        default="",
        db_default="",
        help_text="The part of the instance that it is about, such as one image of a set; empty for all of it.",
    )
    drawn_from = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="led_to",
        help_text="The accepted question of the feeding study that brought the instance here.",
    )
    won: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(
        default=dict,
        blank=True,
        help_text="What acceptance in the feeding studies has added to the instance: role -> image or text.",
    )
    source_type = models.CharField(
        max_length=20,
        blank=True,
        default="",
        db_default="",
        help_text='What it was made from besides its instance, such as "response"; empty when from nothing else.',
    )
    source_id = models.BigIntegerField(
        default=0, db_default=0, help_text="Which one; 0 for none. Rooms above know where to look for it."
    )
    source: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True, blank=True, help_text="What the source said, frozen; null without one."
    )
    answers_wanted = models.PositiveSmallIntegerField()
    undone_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the acceptance that it was drawn from was undone, or it was taken out: since then nothing "
        "follows from it.",
    )
    taken_out_at = models.DateTimeField(
        null=True, blank=True, help_text="When a researcher took it out: since then its answers count nowhere."
    )
    check_type = models.CharField(
        max_length=20,
        choices=Check.choices,
        blank=True,
        default="",
        db_default="",
        help_text="What it checks; empty for an ordinary question. The source of a check is the question that it "
        "was copied from, of this study or of another, or 0.",
    )

    # The first one is the default, also of `study.questions`. Foreign keys lead to checks too.
    objects = OrdinaryQuestions()
    with_checks = models.Manager["Question"]()

    class Meta:
        ordering = ("id",)
        indexes = (
            models.Index(
                fields=("source_type", "source_id"),
                condition=~models.Q(source_type=""),
                name="questions_made_from_a_source",
            ),
            # Few are undone; everybody who arrives is kept from them.
            models.Index(
                fields=("study",), condition=models.Q(undone_at__isnull=False), name="undone_questions_of_a_study"
            ),
            # What decides the outcomes of a study's questions, without their content.
            models.Index(
                fields=("id", "undone_at", "answers_wanted", "instance", "check_type"), name="questions_without_content"
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("study", "instance", "kind", "variant", "source_type", "source_id"),
                name="asked_once_per_variant_and_source",
            ),
            models.CheckConstraint(condition=models.Q(answers_wanted__gte=1), name="question_wants_an_answer"),
        )

    def __str__(self) -> str:
        return f"{self.kind} about {self.instance_id}"

    @property
    def what_is_right(self) -> Any:
        """The right answer, as `Kind.score` reads it; "" if unknown."""
        return self.right if self.right_answer is None else self.right_answer


class PracticeQuestion(models.Model):
    """A question before the survey, with feedback; its answers count only for passing the practice."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="practice_questions")
    position = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=30)
    content: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField()
    right = models.CharField(max_length=100, help_text="The option that is right.")
    feedback = models.TextField(blank=True)

    class Meta:
        ordering = ("position",)
        constraints = (
            models.UniqueConstraint(fields=("study", "position"), name="one_practice_question_per_position"),
        )

    def __str__(self) -> str:
        return f"practice {self.position} of {self.study_id}"


class Survey(models.Model):
    """The ordered questions that a person gets in one session; one person per seat."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="surveys")
    number = models.PositiveIntegerField(help_text="From 1, in the order in which surveys are filled.")
    seats_planned = models.PositiveSmallIntegerField()
    round = models.PositiveSmallIntegerField(
        default=1,
        db_default=1,
        help_text="From 1; a later one asks every question of the study again, for more answers to each.",
    )

    class Meta:
        ordering = ("number",)
        constraints = (
            models.UniqueConstraint(fields=("study", "number"), name="survey_number_once_per_study"),
            models.CheckConstraint(condition=models.Q(seats_planned__gte=1), name="survey_has_a_seat"),
        )

    def __str__(self) -> str:
        return f"survey {self.number} of {self.study_id}"


class SurveyQuestion(models.Model):
    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="survey_questions")
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="places")
    position = models.PositiveIntegerField(help_text="From 0.")

    class Meta:
        ordering = ("survey_id", "position")
        constraints = (
            models.UniqueConstraint(fields=("survey", "position"), name="one_question_per_position"),
            models.UniqueConstraint(fields=("survey", "question"), name="question_once_per_survey"),
        )

    def __str__(self) -> str:
        return f"{self.position} of survey {self.survey_id}"

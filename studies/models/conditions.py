from django.db import models
from django.db.models import Q

from studies.models.studies import Study


class BlindScore(models.Model):
    """Accuracy of a blind baseline, which sees only the texts or only the pictures, on a draft's questions.

    Written by a higher room, read at launch, and unchanged afterwards. `share` is null if the baseline could answer no
    question; `low` and `high` are also null without an interval.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="blind_scores")
    baseline = models.CharField(max_length=300, help_text="Which program, as the study file names it.")
    about = models.CharField(max_length=64, help_text="SHA-256 of the questions that the draft asked then.")
    questions = models.PositiveIntegerField(help_text="Number of questions that it answered.")
    left_out = models.PositiveIntegerField(help_text="Number of questions that it cannot answer.")
    share = models.FloatField(null=True, help_text="Share of right answers, 0 to 1; a tie counts as a guess.")
    low = models.FloatField(null=True, help_text="Lower end of the 95 % interval, 0 to 1.")
    high = models.FloatField(null=True)
    chance = models.FloatField(null=True, help_text="The share of right answers by guessing.")
    computed_at = models.DateTimeField()

    class Meta:
        ordering = ("study_id", "baseline")
        constraints = (
            models.UniqueConstraint(fields=("study", "baseline"), name="one_blind_score_per_baseline"),
            models.CheckConstraint(
                condition=Q(questions=0, share=None, chance=None)
                | Q(questions__gt=0, share__gte=0, share__lte=1, chance__isnull=False),
                name="blind_score_of_some_questions",
            ),
        )

    def __str__(self) -> str:
        return f"{self.baseline} on {self.study}"

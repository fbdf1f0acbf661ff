from typing import Any

from django.db import models

from studies.models import Study


class PolicyAct(models.Model):
    """A pause of a study by one of its policies. It is about numbers of the study and about no person.

    policy: its name in `studies.policies`. evidence: `sentence` with the numbers, and for a policy that goes by it the
    `cost` at the resume (text, in whole units of the study's currency). resumed_at: when somebody resumed the study;
    until then the policy does not act again, and after it the policy counts only what came since.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="policy_acts")
    policy = models.CharField(max_length=40)
    acted_at = models.DateTimeField()
    evidence: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    resumed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("study", "policy"), condition=models.Q(resumed_at=None), name="policy_acts_once_until_resumed"
            ),
        )

    def __str__(self) -> str:
        return f"{self.policy} of {self.study_id}"

from django.db import models

from studies.models import Study


class FlagCheck(models.Model):
    """When the flags of a study's sessions were last computed (`results.actions.session_flags`).

    A lost row makes them be computed again.
    """

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="flag_check")
    checked_at = models.DateTimeField(help_text="When the computation began to read the answers.")
    sessions = models.PositiveIntegerField(help_text="How many sessions had answers.")

    def __str__(self) -> str:
        return f"flags of {self.study_id} at {self.checked_at}"

import hashlib

from django.conf import settings
from django.db import models

from studies.models.studies import Study


class ConsentVersion(models.Model):
    """A consent text of a study, numbered from 1: version 1 is in its design, later ones are ethics amendments.

    A version is never changed. Studies of older versions get version 1 when it is needed first.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="consent_versions")
    number = models.PositiveSmallIntegerField()
    text = models.TextField(help_text="Markdown.")
    sha256 = models.CharField(max_length=64, help_text="Of the text, in UTF-8.")
    reason = models.TextField(blank=True, help_text="Why a researcher changed the text; empty for version 1.")
    at = models.DateTimeField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+"
    )
    by_name = models.CharField(max_length=150, help_text="Who wrote it, or launched the study, by name at that moment.")

    class Meta:
        ordering = ("study", "number")
        constraints = (
            models.UniqueConstraint(fields=("study", "number"), name="consent_versions_are_numbered"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="consent_versions_begin_with_1"),
        )

    def __str__(self) -> str:
        return f"version {self.number}"


def sha256_of(text: str) -> str:
    """Return the SHA-256 of a consent text, as `ConsentVersion.sha256` stores it."""
    return hashlib.sha256(text.encode()).hexdigest()

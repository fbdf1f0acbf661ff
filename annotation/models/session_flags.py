from typing import Any

from django.conf import settings
from django.db import models

from annotation.models.people import NumberedRow
from annotation.models.sessions import Session


class SessionFlagQuerySet(models.QuerySet["SessionFlag"]):
    def in_force(self) -> "SessionFlagQuerySet":
        """Return the flags that the last check found and that nobody dismissed."""
        return self.filter(cleared_at=None).exclude(verdict=SessionFlag.Verdict.DISMISSED)

    def to_review(self) -> "SessionFlagQuerySet":
        """Return the flags that the last check found and that nobody has reviewed."""
        return self.filter(cleared_at=None, verdict="")


class SessionFlag(NumberedRow):
    """A sign that the answers of a session may be careless, found by one rule of `analytics.flags`.

    It never rejects or excludes anybody: a researcher reviews it. rule, version: of the rule that found it. evidence:
    what the rule found, in its own format. A check that no longer finds it sets `cleared_at`, and clears that again if
    it finds it once more. A verdict stays through later checks.
    """

    class Verdict(models.TextChoices):
        UPHELD = "upheld", "Upheld"
        DISMISSED = "dismissed", "Dismissed"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="flags")
    rule = models.CharField(max_length=40)
    version = models.PositiveSmallIntegerField(default=1)
    evidence: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    found_at = models.DateTimeField()
    cleared_at = models.DateTimeField(null=True, blank=True, help_text="When a later check no longer found it.")
    verdict = models.CharField(max_length=10, choices=Verdict.choices, blank=True, default="", db_default="")
    note = models.TextField(blank=True, default="", db_default="", help_text="Why it was upheld or dismissed.")
    reviewed_at = models.DateTimeField(null=True, blank=True)
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    objects = SessionFlagQuerySet.as_manager()

    class Meta:
        ordering = ("session", "rule")
        constraints = (
            models.UniqueConstraint(fields=("session", "rule"), name="flag_once_per_session_and_rule"),
            models.CheckConstraint(
                condition=models.Q(verdict="", reviewed_at=None)
                | (~models.Q(verdict="") & models.Q(reviewed_at__isnull=False)),
                name="flag_reviewed_at_if_it_has_a_verdict",
            ),
        )
        indexes = (
            models.Index(fields=("session",), condition=models.Q(cleared_at=None, verdict=""), name="flags_to_review"),
        )

from django.db import models

from annotation.models.sessions import Session
from studies.models import ConsentVersion


class ConsentAgreement(models.Model):
    """An annotator agreed, in a session, to a version of the consent text. Never changed.

    `Session.consent` is the last of them. A session that agreed under an older Lineup may have no row for it: read all
    with `annotation.agreements.agreements_of`.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="agreements")
    version = models.ForeignKey(ConsentVersion, on_delete=models.PROTECT, related_name="agreements")
    at = models.DateTimeField()

    class Meta:
        ordering = ("session", "version")
        constraints = (
            models.UniqueConstraint(fields=("session", "version"), name="a_session_agrees_once_to_a_consent_version"),
        )

    def __str__(self) -> str:
        return f"session {self.session_id} agreed to {self.version_id}"

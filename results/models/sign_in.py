from django.db import models


class SignInFailure(models.Model):
    """One failed attempt to sign in. The name is kept as a digest: people type passwords into the wrong field."""

    name_digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=("name_digest", "at"), name="failures_by_name"),)

    def __str__(self) -> str:
        return f"failed at {self.at}"

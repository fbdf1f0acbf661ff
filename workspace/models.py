import hashlib

from django.conf import settings
from django.db import models
from django.db.models import Q

from studies.models import Image, Project


class Scope(models.TextChoices):
    READ = "read", "Read"
    WRITE = "write", "Read and change"


class TokenQuerySet(models.QuerySet["Token"]):
    def revocable(self) -> "TokenQuerySet":
        return self.filter(revoked_at=None)


class Token(models.Model):
    """What a script shows instead of a password: its owner's rights, or fewer, until a day.

    The text itself is shown once and kept nowhere: `digest` is its SHA-256, which needs no salt and no slow function,
    since 256 random bits cannot be guessed. A token that is revoked stays, as the record of what there was.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100, help_text="What it is for, in its owner's words.")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of its text.")
    ending = models.CharField(max_length=4, help_text="The last digits of its text, by which people tell tokens apart.")
    scope = models.CharField(max_length=10, choices=Scope.choices, default=Scope.READ)
    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="The only project that it opens; null: all that its owner may see.",
    )
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = TokenQuerySet.as_manager()

    class Meta:
        ordering = ("-made_at", "-pk")
        constraints = (
            models.CheckConstraint(condition=Q(scope__in=Scope.values), name="token_scope_is_known"),
            models.CheckConstraint(condition=Q(expires_at__gt=models.F("made_at")), name="token_expires_after_made"),
        )

    def __str__(self) -> str:
        return f"{self.name} of {self.owner}"


def digest_of(secret: str) -> str:
    """Return what a token with this text is known by."""
    return hashlib.sha256(secret.encode()).hexdigest()


class KeptAnswer(models.Model):
    """What a request with an idempotency key was answered, so that the same one asked again is answered the same.

    Stored in the transaction of what it did. `fingerprint` tells whether it was the same request.
    """

    token = models.ForeignKey(Token, on_delete=models.CASCADE, related_name="kept_answers")
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of the method, the address and what was sent.")
    status = models.PositiveSmallIntegerField(default=0)
    body = models.TextField(blank=True, help_text="JSON as it was sent.")
    location = models.TextField(blank=True, help_text="Where what was made is found.")
    made_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("token", "key"), name="one_answer_per_token_and_key"),)

    def __str__(self) -> str:
        return f"{self.status} for {self.key}"


class UploadedImage(models.Model):
    """That a project was given a picture's bytes: what it may use in its imports.

    Whoever knows the SHA-256 of a picture of another project does not have the picture: they must have sent it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploaded_images")
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="uploads")
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    uploaded_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "image"), name="image_uploaded_once_per_project"),)

    def __str__(self) -> str:
        return f"{self.image} for {self.project}"

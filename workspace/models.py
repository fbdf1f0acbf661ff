import hashlib
import secrets
import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from background.models import Job
from results.models import Release
from studies.models import Image, Instance, Project, Study, Upload
from training.models import TrainingRun


class Scope(models.TextChoices):
    READ = "read", "Read"
    WRITE = "write", "Read and change"


class TokenQuerySet(models.QuerySet["Token"]):
    def revocable(self) -> "TokenQuerySet":
        return self.filter(revoked_at=None)


class Token(models.Model):
    """A personal API token: its owner's rights, or fewer, until a date.

    The text is shown once and not stored: `digest` is its SHA-256, which needs no salt and no slow function, since 256
    random bits cannot be guessed. A revoked token stays, as a record.
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
        help_text="The only project that it can open; null for all projects of its owner.",
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
    """Return the digest by which a token is found."""
    return hashlib.sha256(secret.encode()).hexdigest()


class KeptAnswer(models.Model):
    """The stored response of a request with an idempotency key, replayed for a repeated request.

    Stored in the transaction of the work. `fingerprint` tells whether it was the same request.
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
    """Proof that a project was sent an image's bytes, so that its imports may use the image.

    Knowing the SHA-256 of another project's image is not enough.
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


class Topic(models.TextChoices):
    """What a webhook reports."""

    STUDY_COMPLETED = "study.completed", "A study has all its answers"
    INSTANCES_ACCEPTED = "instances.accepted", "Instances were accepted"
    RELEASE_MADE = "release.made", "A release was frozen"
    ALARM_RAISED = "alarm.raised", "Something is wrong"


# Topic of test messages; nobody subscribes to it.
TRIAL = "webhook.tried"


class Webhook(models.Model):
    """A project's webhook: a URL on another server, and the topics sent to it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    topics: models.JSONField[list[str], list[str]] = models.JSONField(
        default=list, help_text="Values of `Topic`, sorted."
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    made_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True, blank=True, help_text="When it last accepted a message.")
    off_at = models.DateTimeField(null=True, blank=True, help_text="When it was switched off; null while it is on.")
    off_because = models.TextField(blank=True, help_text="Why it was switched off, for people.")

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("project", "url"), name="webhook_address_once_per_project"),
            models.CheckConstraint(
                condition=Q(off_at=None, off_because="") | (Q(off_at__isnull=False) & ~Q(off_because="")),
                name="webhook_that_is_off_says_why",
            ),
        )

    def __str__(self) -> str:
        return f"{self.url} for {self.project}"


def new_salt() -> str:
    return secrets.token_hex(32)


class WebhookKey(models.Model):
    """A key that signs a webhook's messages.

    The key itself is not stored: it is derived from `salt` and the site's secret (`workspace.signatures`), so that
    reading the database is not enough to sign.
    """

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="keys")
    salt = models.CharField(max_length=64, unique=True, default=new_salt)
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True, help_text="null: it is the newest.")

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("webhook",), condition=Q(expires_at=None), name="one_newest_key_of_a_webhook"
            ),
        )

    def __str__(self) -> str:
        return f"key {self.pk} of {self.webhook}"


class DeliveryState(models.TextChoices):
    WAITING = "waiting", "Waiting"
    TAKEN = "taken", "Taken"
    FAILED = "failed", "Failed"


class Delivery(models.Model):
    """A webhook message, stored in the transaction of its event, and the state of its delivery.

    `body` is sent byte for byte at every attempt; receivers recognise repeats by `name`.
    """

    name = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    topic = models.CharField(max_length=30)
    body = models.TextField()
    state = models.CharField(max_length=10, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    made_at = models.DateTimeField()
    due_at = models.DateTimeField(help_text="The next attempt comes no earlier than this.")
    tried_at = models.DateTimeField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="HTTP status of the last response; null if there was none."
    )
    answer = models.TextField(blank=True, help_text="The beginning of the last response.")
    problem = models.TextField(blank=True, help_text="Why the last attempt failed, for people.")

    class Meta:
        ordering = ("-made_at", "-pk")
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "taken", "failed"]), name="delivery_state_is_known"
            ),
        )
        indexes = (
            models.Index(fields=("due_at",), condition=Q(state=DeliveryState.WAITING), name="deliveries_that_wait"),
            models.Index(fields=("webhook", "-id"), name="deliveries_of_a_webhook"),
        )

    def __str__(self) -> str:
        return f"{self.topic} {self.name}, {self.state}"


class ToldAcceptance(models.Model):
    """Record that a webhook was told about an accepted instance, or must not be."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="+")
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="+")
    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("webhook", "study", "instance"), name="acceptance_told_once"),)

    def __str__(self) -> str:
        return f"{self.instance} of {self.study}"


class HubPush(models.Model):
    """A request to push a release to the Hugging Face Hub, and its result.

    Its job has the progress. `sealed_token` is the encrypted Hub token, emptied when the push ends.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="hub_pushes")
    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="hub_pushes")
    repository = models.CharField(max_length=200, help_text="OWNER/NAME.")
    private = models.BooleanField(default=True, help_text="Whether a repository that is not there yet is made private.")
    sealed_token = models.TextField(blank=True)
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    requested_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    url = models.CharField(max_length=500, blank=True, help_text="URL of the commit.")
    error = models.TextField(blank=True, help_text="Why it failed, as a sentence.")

    class Meta:
        ordering = ("-requested_at", "-pk")
        constraints = (
            models.CheckConstraint(condition=Q(finished_at=None) | Q(sealed_token=""), name="no_token_after_the_push"),
        )

    def __str__(self) -> str:
        return f"{self.release} to {self.repository}"


class ModelPush(models.Model):
    """A request to push a trained model to the Hugging Face Hub, and its result.

    Its job pushes the model card; then a worker, which has the weights, pushes these. `sealed_token` is the encrypted
    Hub token, emptied when the push ends. `attempt` counts the messages to workers.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="model_pushes")
    run = models.ForeignKey(TrainingRun, on_delete=models.CASCADE, related_name="pushes")
    repository = models.CharField(max_length=200, help_text="OWNER/NAME.")
    private = models.BooleanField(default=True, help_text="Whether a repository that is not there yet is made private.")
    licence = models.CharField(max_length=100, blank=True, help_text="Of the model, for its card.")
    with_weights = models.BooleanField(default=True)
    sealed_token = models.TextField(blank=True)
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    card_url = models.CharField(max_length=500, blank=True, help_text="URL of the commit with the model card.")
    attempt = models.PositiveIntegerField(default=0)
    sent_at = models.DateTimeField(null=True, blank=True, help_text="When a worker was last asked for the weights.")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    requested_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    url = models.CharField(max_length=500, blank=True, help_text="URL of the last commit.")
    error = models.TextField(blank=True, help_text="Why it failed, as a sentence.")

    class Meta:
        ordering = ("-requested_at", "-pk")
        verbose_name_plural = "model pushes"
        constraints = (
            models.CheckConstraint(
                condition=Q(finished_at=None) | Q(sealed_token=""), name="no_token_after_the_model_push"
            ),
        )

    def __str__(self) -> str:
        return f"{self.run} to {self.repository}"


class HubDownload(models.Model):
    """A request to download a dataset from the Hugging Face Hub into an upload, and its result.

    Its job has the progress. `sealed_token` is the encrypted Hub token, emptied when the download ends.
    """

    upload = models.OneToOneField(Upload, on_delete=models.CASCADE, related_name="hub_download")
    repository = models.CharField(max_length=200, help_text="OWNER/NAME.")
    revision = models.CharField(max_length=200, blank=True, help_text="The requested revision; empty for the latest.")
    folder = models.CharField(
        max_length=500, blank=True, help_text="Only files in this folder are downloaded; empty for all."
    )
    commit = models.CharField(max_length=64, blank=True, help_text="The commit that the revision pointed to.")
    sealed_token = models.TextField(blank=True)
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    requested_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True, help_text="Why it failed, as a sentence.")

    class Meta:
        ordering = ("-requested_at", "-pk")
        constraints = (
            models.CheckConstraint(condition=Q(finished_at=None) | Q(sealed_token=""), name="no_token_after_download"),
        )

    def __str__(self) -> str:
        return self.repository


class BrowserSession(models.Model):
    """A browser that somebody is signed in with, so that they can list and sign out their browsers.

    Django's session of the same key is what opens pages; a row without one is left of a session that ended.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="browser_sessions")
    session_key = models.CharField(max_length=40, unique=True)
    browser = models.CharField(max_length=60, help_text="In plain words, such as `Firefox on Linux`.")
    began_at = models.DateTimeField()
    seen_at = models.DateTimeField(help_text="To a few minutes.")

    class Meta:
        ordering = ("-seen_at", "-pk")

    def __str__(self) -> str:
        return f"{self.browser} of {self.user}"


class ConfirmedMail(models.Model):
    """Record that somebody followed a link sent to their address.

    It holds only while this is the address of the account, which operators may change.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="confirmed_mail")
    mail = models.EmailField()
    confirmed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.mail} of {self.user}"

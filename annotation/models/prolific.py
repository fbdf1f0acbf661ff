"""What a project has at Prolific: its account, its studies there, and their submissions."""

from django.conf import settings
from django.db import models

from annotation.models.people import NumberedRow
from annotation.models.sessions import Session
from annotation.recruitment.prolific.statuses import StudyStatus
from studies.models import Project, Study


class ProlificAccount(NumberedRow):
    """The Prolific account that a project recruits with. Its token has all rights of the account and never expires."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="prolific_account")
    sealed_token = models.TextField(help_text="Encrypted; see background.sealed_secrets.")
    user_id = models.CharField(max_length=100, help_text="The researcher's id at Prolific.")
    user_name = models.CharField(max_length=200, blank=True)
    workspace_id = models.CharField(
        max_length=100, blank=True, default="", db_default="", help_text="The workspace that pays. Empty: not chosen."
    )
    workspace_title = models.CharField(max_length=200, blank=True, default="", db_default="")
    sealed_webhook_key = models.TextField(
        blank=True, default="", db_default="", help_text="The key that signs webhooks of the workspace, encrypted."
    )
    webhooks_confirmed_at = models.DateTimeField(
        null=True, blank=True, help_text="When Prolific confirmed that it sends webhooks here."
    )
    clock_ahead = models.IntegerField(
        default=0, db_default=0, help_text="Seconds that Prolific's clock is ahead of this site's, as last measured."
    )
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    saved_at = models.DateTimeField()


class ReceivedWebhook(NumberedRow):
    """A webhook of Prolific's that was verified. Its id is kept, so that the same one is not handled twice."""

    account = models.ForeignKey(ProlificAccount, on_delete=models.CASCADE, related_name="webhooks")
    event_id = models.CharField(max_length=100)
    event_type = models.CharField(max_length=100)
    received_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("account", "event_id"), name="each_webhook_received_once"),)
        indexes = (models.Index(fields=("received_at",), name="webhooks_by_age"),)


class ProlificStudy(NumberedRow):
    """A study on Prolific that sends people to one of ours. There may be several, one after another."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="prolific_studies")
    remote_id = models.CharField(max_length=100, blank=True, help_text="Its id at Prolific. Empty: not created there.")
    workspace_id = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text="The workspace in which it was last drafted; it stays there. Empty: that of the account.",
    )
    internal_name = models.CharField(
        max_length=100,
        unique=True,
        help_text="Our name for it at Prolific, by which it is found again if the reply to its creation was lost.",
    )
    details = models.JSONField(
        default=dict, help_text="What the form says, as annotation.recruitment.prolific.bodies.NewStudy has it."
    )
    status = models.CharField(
        max_length=40, blank=True, help_text="As Prolific spells it, also if unknown to us. Empty: not created there."
    )
    places = models.PositiveIntegerField()
    places_taken = models.PositiveIntegerField(default=0)
    reward = models.DecimalField(max_digits=10, decimal_places=2, help_text="Of one submission, in whole units.")
    currency = models.CharField(max_length=3, help_text="Of the account when the study was created.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField()
    creation_sent_at = models.DateTimeField(
        null=True, blank=True, help_text="When Prolific was last asked to create it."
    )
    published_at = models.DateTimeField(null=True, blank=True)
    read_at = models.DateTimeField(
        null=True, blank=True, help_text="When its status and all its submissions were last read from Prolific."
    )
    due_at = models.DateTimeField(null=True, blank=True, help_text="When to read it again. Null: no more.")
    problem = models.TextField(blank=True, help_text="Why it could not be read or changed, in a sentence.")

    class Meta:
        ordering = ("-created_at", "-pk")
        constraints = (
            models.UniqueConstraint(
                fields=("remote_id",), condition=~models.Q(remote_id=""), name="each_prolific_study_once"
            ),
        )
        indexes = (
            models.Index(fields=("due_at",), condition=models.Q(due_at__isnull=False), name="prolific_studies_to_read"),
        )

    @property
    def is_over(self) -> bool:
        return self.status == StudyStatus.COMPLETED


class Submission(NumberedRow):
    """A participant's submission as Prolific has it. `session`: the one it belongs to here, if they arrived."""

    class Flag(models.TextChoices):
        """What does not fit between a session here and its submission there (prolific.md, section 3.4)."""

        NO_DATA = "no_data", "Completed on Prolific, not here"
        PAID_WITHOUT_DATA = "paid_without_data", "Approved on Prolific, not finished here"
        REDIRECT_LOST = "redirect_lost", "Finished here, still open on Prolific"
        PLACE_LOST = "place_lost", "Finished here, but returned or timed out on Prolific"
        WRONG_CODE = "wrong_code", "Another code than the one shown here"

    prolific_study = models.ForeignKey(ProlificStudy, on_delete=models.PROTECT, related_name="submissions")
    session = models.OneToOneField(Session, on_delete=models.SET_NULL, null=True, blank=True, related_name="submission")
    sealed_id = models.TextField(blank=True, help_text="Its id at Prolific, encrypted. Empty: its person was erased.")
    id_digest = models.CharField(max_length=64, unique=True, help_text="By which it is found.")
    status = models.CharField(max_length=40, help_text="As Prolific spells it, also if unknown to us.")
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    entered_code = models.CharField(max_length=100, blank=True)
    return_requested_at = models.DateTimeField(null=True, blank=True)
    completed_by_us_at = models.DateTimeField(
        null=True, blank=True, help_text="When we last asked Prolific to complete it, because its redirect was lost."
    )
    flag = models.CharField(max_length=20, choices=Flag.choices, blank=True)
    read_at = models.DateTimeField(help_text="When its status was last read from Prolific.")

    class Meta:
        ordering = ("started_at", "pk")
        indexes = (models.Index(fields=("prolific_study", "status"), name="submissions_by_status"),)

from django.db import models
from django.utils import timezone

from annotation.models.provider_ids import EncryptedId, EncryptedIdQuerySet
from studies.models import Project, Study


class NumberedRow(models.Model):
    """A row that is called by the name of its table and its number."""

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"


class AnnotatorQuerySet(EncryptedIdQuerySet["Annotator"]):
    pass


class Annotator(EncryptedId, NumberedRow):
    """A person, known by a provider ("prolific", "invite") and the provider's id."""

    id_purpose = "annotator"

    provider = models.CharField(max_length=20)
    blocked = models.BooleanField(default=False, help_text="May not start another session.")
    withdrawn_at = models.DateTimeField(
        null=True, blank=True, help_text="Unused; kept for a downgrade to an older version. See `Removal`."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AnnotatorQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("provider", "id_digest"), name="annotator_once_per_provider"),)

    @property
    def provider_id(self) -> str:
        """The provider's id; "" if it was deleted. Raises CannotUnseal."""
        return self.open_id()


class RemovalQuerySet(models.QuerySet["Removal"]):
    def in_force(self) -> "RemovalQuerySet":
        """Return the removals that have not been ended."""
        return self.filter(ended_at=None)

    def reasons(self, *, annotator: int, project: int) -> set[str]:
        """Return why the answers of `annotator` do not count in `project`; empty if they count."""
        return set(self.in_force().filter(annotator=annotator, project=project).values_list("why", flat=True))

    def withdrawals(self) -> "RemovalQuerySet":
        """Return removals because the person withdrew consent."""
        return self.filter(why=Removal.Why.WITHDRAWN)


class Removal(models.Model):
    """The removal of a person's answers from a project: they withdrew consent, or a researcher excluded them.

    A withdrawal is final. ended_at: when a researcher included the answers again.
    """

    class Why(models.TextChoices):
        WITHDRAWN = "withdrawn", "Withdrawn"
        EXCLUDED = "excluded", "Excluded"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="removals")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="removals")
    why = models.CharField(max_length=10, choices=Why.choices)
    reason = models.TextField(blank=True, help_text="Why a researcher excluded them.")
    at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    slots_opened_at = models.DateTimeField(
        null=True, blank=True, help_text="When the places of their answers were opened for others, the last time."
    )

    objects = RemovalQuerySet.as_manager()

    class Meta:
        ordering = ("-at",)
        constraints = (
            models.UniqueConstraint(
                fields=("project", "annotator", "why"),
                condition=models.Q(ended_at=None),
                name="removed_once_for_each_reason",
            ),
            models.CheckConstraint(
                condition=models.Q(ended_at=None) | models.Q(why="excluded"), name="a_withdrawal_stays"
            ),
        )

    def __str__(self) -> str:
        return f"{self.annotator_id} {self.why} from {self.project_id}"


class GroupMemberQuerySet(models.QuerySet["GroupMember"]):
    def in_force(self) -> "GroupMemberQuerySet":
        """Return the memberships that have not expired, by the clock of the server, of people who are not excluded."""
        unexpired = models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now())
        return self.filter(unexpired, suspended_at=None)


class GroupMember(models.Model):
    """The membership of a person in a group of a project, which studies may require; they may not have come yet.

    Members are declared by a researcher, without an expiry, or have passed a qualification study.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="group_members")
    group = models.CharField(max_length=50)
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="memberships")
    source = models.ForeignKey(
        Study,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="The qualification study that they passed last. Null: declared by a researcher.",
    )
    expires_at = models.DateTimeField(null=True, blank=True, help_text="From then on it counts nowhere. Null: never.")
    suspended_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the person was excluded. It counts nowhere until they are included again.",
    )

    objects = GroupMemberQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "group", "annotator"), name="in_a_group_once"),)

    def __str__(self) -> str:
        return f"{self.annotator_id} in {self.group}"


class EntryEvent(models.Model):
    """Suspicious arrivals at a study, counted in one row per person, for the researcher.

    `who` is a keyed digest that identifies nobody. Rows without it count people without an id, and everybody after the
    first few, so that the number of rows is bounded.
    """

    class What(models.TextChoices):
        MISSING = "missing", "The link had no ids"
        UNFILLED = "unfilled", "The link still had its placeholders"
        NOT_AN_ID = "not_an_id", "The link's ids were none of the platform's"
        OTHER_PERSON = "other_person", "A session's link was opened with another person's id"
        OTHER_STUDY = "other_study", "The link came from another study of the provider"
        NO_SEAT = "no_seat", "Somebody came when nothing was left"
        NOTHING_YET = "nothing_yet", "Somebody came before anything was ready"
        TOO_MANY = "too_many", "Too many new people came from one network at once"
        NETWORK_FULL = "network_full", "One network held its share of the places"
        REFUSED = "refused", "A rule of eligibility kept somebody out"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="entry_events")
    what = models.CharField(max_length=20, choices=What.choices)
    rule = models.CharField(
        max_length=50, blank=True, default="", db_default="", help_text="Which rule of eligibility kept them out."
    )
    who = models.CharField(max_length=64, blank=True, default="", db_default="")
    times = models.PositiveIntegerField(default=1, db_default=1)
    at = models.DateTimeField(help_text="The last time.")

    class Meta:
        ordering = ("-at",)
        constraints = (
            models.UniqueConstraint(
                fields=("study", "what", "rule", "who"),
                condition=~models.Q(who=""),
                name="entry_event_counted_once_for_each_rule",
            ),
        )
        indexes = (models.Index(fields=("study", "what"), name="entry_events_by_kind"),)

    def __str__(self) -> str:
        return f"{self.what} at {self.at}"

import string

from django.conf import settings
from django.db import models
from django.utils.crypto import get_random_string

from studies.design.model import accepts_answers
from studies.models.designs import DesignField
from studies.models.projects import Project

_TOKEN_LENGTH = 16


class StudyState(models.TextChoices):
    DRAFT = "draft", "Draft"
    OPEN = "open", "Open"
    PAUSED = "paused", "Paused"
    CLOSED = "closed", "Closed"


# Life cycle of a study: state -> allowed next states.
STUDY_TRANSITIONS: dict[StudyState, frozenset[StudyState]] = {
    StudyState.DRAFT: frozenset({StudyState.OPEN}),
    StudyState.OPEN: frozenset({StudyState.PAUSED, StudyState.CLOSED}),
    StudyState.PAUSED: frozenset({StudyState.OPEN, StudyState.CLOSED}),
    StudyState.CLOSED: frozenset(),
}
# Launched and not closed: people may be at work, and questions may be added.
UNDER_WAY = frozenset({StudyState.OPEN, StudyState.PAUSED})


class Outcome(models.TextChoices):
    """Session outcome for the platform that sent the annotator; each has its own completion code."""

    FINISHED = "finished", "Finished"
    NO_CONSENT = "no_consent", "No consent"
    FAILED_CHECKS = "failed_checks", "Failed checks"
    LEFT_OUT = "left_out", "Left out too many questions"
    STOPPED = "stopped", "Stopped before the end"
    TIME_OVER = "time_over", "Ran out of time"
    WAITED = "waited", "Waited, and nothing came"
    FEW_ANSWERS = "few_answers", "Finished with few answers"
    UNLIKELY_TIMES = "unlikely_times", "Finished with unlikely times"


class Purpose(models.TextChoices):
    """Purpose of a study: what its answers decide, and which numbers of the project use them."""

    FILTER = "filter", "Filter"
    BASELINE = "baseline", "Human baseline"
    PILOT = "pilot", "Pilot"
    QUALIFICATION = "qualification", "Qualification"
    COLLECTION = "collection", "Collection"


def new_public_token() -> str:
    """Return a short, unguessable name for the address at which annotators arrive."""
    return get_random_string(_TOKEN_LENGTH, string.ascii_lowercase + string.digits)


class Study(models.Model):
    """One round of questions over instances.

    `design`: the parsed study file `source` (`studies.design`); both are frozen after the draft state. `kind`, `rule`
    and `purpose` repeat parts of the design, for queries.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="studies")
    slug = models.SlugField(help_text="Its name in addresses and commands; unique in the project.")
    public_token = models.CharField(
        max_length=64,
        blank=True,
        default=new_public_token,
        db_default="",
        help_text="Its name in the address under which annotators arrive; studies of older versions have their slug.",
    )
    title = models.CharField(max_length=200)
    kind = models.CharField(max_length=30)
    rule = models.CharField(max_length=50)
    purpose = models.CharField(
        max_length=20, choices=Purpose.choices, default=Purpose.FILTER, db_default=Purpose.FILTER.value
    )
    fed_by = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="feeds",
        help_text="The study whose accepted instances this one asks about.",
    )
    source = models.TextField(help_text="The study file as it was given.")
    design = DesignField()
    seed = models.CharField(max_length=100)
    order_secret = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="What the order of options rests on, for the sessions that begin from now on; on no page.",
    )
    state = models.CharField(max_length=10, choices=StudyState.choices, default=StudyState.DRAFT)
    invite_token = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    launched_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    in_dataset = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether the items that it accepts belong to the dataset of its project.",
    )
    more_answers = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="How many answers every question gets besides those of the design, asked for after the launch.",
    )
    raised_to = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="Up to how many answers undecided questions get, where that was raised after the launch; else 0.",
    )
    closes_itself = models.BooleanField(default=False, db_default=False, help_text="Once all its answers are in.")
    mails_when_complete = models.BooleanField(
        default=False, db_default=False, help_text="Whether who launched it is told by mail when all answers are in."
    )
    open_networks = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Networks that may hold any number of its places, such as a lab's: one on each line.",
    )
    completed_at = models.DateTimeField(
        null=True, blank=True, help_text="When all its answers were found to be in; null until then."
    )

    class Meta:
        ordering = ("-created_at",)
        verbose_name_plural = "studies"
        constraints = (
            models.UniqueConstraint(fields=("project", "slug"), name="study_slug_once_per_project"),
            models.UniqueConstraint(
                fields=("public_token",), condition=~models.Q(public_token=""), name="public_token_leads_to_one_study"
            ),
            models.CheckConstraint(
                condition=models.Q(state=StudyState.DRAFT, launched_at=None)
                | (~models.Q(state=StudyState.DRAFT) & models.Q(launched_at__isnull=False)),
                name="study_launched_unless_draft",
            ),
            models.CheckConstraint(
                condition=models.Q(state=StudyState.CLOSED, closed_at__isnull=False)
                | (~models.Q(state=StudyState.CLOSED) & models.Q(closed_at=None)),
                name="study_closed_at_when_closed",
            ),
        )

    def __str__(self) -> str:
        return self.slug

    @property
    def accepts(self) -> bool:
        """Whether its answers accept and reject instances; not in a baseline."""
        return accepts_answers(self.purpose, lambda: self.design.knows_right)

    @property
    def secret_seed(self) -> str:
        """Seed of draws that annotators must not predict, such as described targets; `seed` is public."""
        return self.order_secret or self.seed

    @property
    def answers(self) -> int:
        """Answers wanted per question, at least 1: those of the design plus those added for all questions."""
        return self.design.answers + self.more_answers

    @property
    def most_answers(self) -> int:
        """Most answers for an undecided question; equal to `answers` if it gets no extra ones."""
        return max(self.design.max_answers, self.raised_to, self.answers)

    @property
    def entry_name(self) -> str:
        """Return the name of the study in the address at which annotators arrive."""
        return self.public_token or self.slug


class CompletionCode(models.Model):
    """The code that tells the platform the outcome of a session; shown only after the outcome is saved."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="completion_codes")
    outcome = models.CharField(max_length=20, choices=Outcome.choices)
    code = models.CharField(max_length=40)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("study", "outcome"), name="one_code_per_outcome"),
            models.UniqueConstraint(fields=("study", "code"), name="code_means_one_outcome"),
        )

    def __str__(self) -> str:
        return f"{self.outcome} of {self.study}"

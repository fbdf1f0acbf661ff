from typing import TYPE_CHECKING, Any

from django.db import models

from annotation.models.people import Annotator, NumberedRow
from annotation.models.provider_ids import EncryptedId, EncryptedIdQuerySet
from annotation.simulation_ids import is_simulated
from studies.models import ConsentVersion, Outcome, Study

if TYPE_CHECKING:
    from annotation.models.seats import Seat


class SessionState(models.TextChoices):
    CONSENT = "consent", "Reading the consent page"
    INSTRUCTIONS = "instructions", "Reading the instructions"
    PRACTICE = "practice", "Practising"
    WAITING = "waiting", "Waiting for a question"
    WORKING = "working", "Answering"
    FINISHED = "finished", "Finished"
    NO_CONSENT = "no_consent", "Did not consent"
    FAILED_CHECKS = "failed_checks", "Failed the practice"
    LEFT_OUT = "left_out", "Left out too many questions"
    WITHDRAWN = "withdrawn", "Took their consent back"
    STOPPED = "stopped", "Ended by a researcher"
    GIVEN_UP = "given_up", "Stopped early"
    RETURNED = "returned", "Returned on the platform"
    LAPSED = "lapsed", "Ran out of time"
    SUPERSEDED = "superseded", "Came back under a new submission"
    WAITED = "waited", "Waited, and nothing came"


class Identity(models.TextChoices):
    """Who says that the ids of an arrival are right."""

    SIGNED = "signed", "The link was signed by Prolific"
    CONFIRMED = "confirmed", "Prolific confirmed the submission"
    UNVERIFIED = "unverified", "Not verified: Prolific could not be asked yet"
    MISMATCH = "mismatch", "Prolific says that the submission is somebody else's"


S = SessionState
REMOVING = frozenset({S.WITHDRAWN, S.STOPPED})
LEAVING = frozenset({S.GIVEN_UP, S.RETURNED, S.LAPSED, S.SUPERSEDED}) | REMOVING
# The life of a session: state -> possible next states; none after any other state.
SESSION_TRANSITIONS: dict[SessionState, frozenset[SessionState]] = {
    S.CONSENT: LEAVING | {S.INSTRUCTIONS, S.NO_CONSENT},
    # After the consent page, no consent means that the annotator declined a changed text.
    S.INSTRUCTIONS: LEAVING | {S.PRACTICE, S.WAITING, S.WORKING, S.NO_CONSENT},
    S.PRACTICE: LEAVING | {S.WAITING, S.WORKING, S.FAILED_CHECKS, S.LEFT_OUT, S.NO_CONSENT},
    # A waiting session holds no seat, or has filled its seats and waits for more questions.
    S.WAITING: LEAVING | {S.WORKING, S.WAITED, S.FINISHED, S.LEFT_OUT, S.NO_CONSENT},
    S.WORKING: LEAVING | {S.WAITING, S.FINISHED, S.LEFT_OUT, S.NO_CONSENT},
    # A late annotator continues where they were if their seat is free, or stops.
    S.LAPSED: frozenset({S.CONSENT, S.INSTRUCTIONS, S.PRACTICE, S.WAITING, S.WORKING, S.GIVEN_UP}) | REMOVING,
}
# In these states a session holds a seat, or receives one as soon as something is ready.
OPEN_STATES = frozenset({S.CONSENT, S.INSTRUCTIONS, S.PRACTICE, S.WAITING, S.WORKING})
# After these states the annotator has taken part: answers and pay are settled, or a researcher settles them.
TAKEN_PART = frozenset({S.FINISHED, S.FAILED_CHECKS, S.LEFT_OUT, S.WAITED})
OUTCOMES: dict[SessionState, Outcome] = {
    S.FINISHED: Outcome.FINISHED,
    S.NO_CONSENT: Outcome.NO_CONSENT,
    S.FAILED_CHECKS: Outcome.FAILED_CHECKS,
    S.LEFT_OUT: Outcome.LEFT_OUT,
    S.WAITED: Outcome.WAITED,
    # Has a completion code only if the study file says so.
    S.GIVEN_UP: Outcome.STOPPED,
    S.LAPSED: Outcome.TIME_OVER,
}


def has_unlikely_times(path: str = "") -> models.Q:
    """Select sessions with implausible times that no researcher has accepted.

    path: leads from the filtered row to its session, such as "session__".
    """
    return models.Q(**{f"{path}time_evidence__isnull": False, f"{path}times_accepted_at": None})


class SessionQuerySet(EncryptedIdQuerySet["Session"]):
    pass


class Session(EncryptedId, NumberedRow):
    """One annotator's session in one study; on Prolific, one submission.

    `token` is the credential in the address of every page of the session. Times are server times.
    """

    # As of `Submission`, so that both find each other by their digest.
    id_purpose = "submission"

    token = models.CharField(max_length=64, unique=True)
    study = models.ForeignKey(Study, on_delete=models.PROTECT, db_index=False, related_name="sessions")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="sessions")
    provider = models.CharField(max_length=20)
    provider_study_id = models.CharField(max_length=200, blank=True)
    identity = models.CharField(
        max_length=20,
        choices=Identity.choices,
        default="",
        blank=True,
        db_default="",
        help_text="Whether its ids are its annotator's own. Empty: nothing was checked, as without an account.",
    )
    state = models.CharField(max_length=20, choices=SessionState.choices, default=SessionState.CONSENT)
    state_before_lapse = models.CharField(max_length=20, blank=True)
    questions_total = models.PositiveIntegerField(help_text="Questions given to this session so far.")
    questions_answered = models.PositiveIntegerField(default=0)
    unseen_notices = models.PositiveIntegerField(
        default=0, db_default=0, help_text="How many of its `answer_notices` its annotator has still to see."
    )
    part_begun = models.PositiveSmallIntegerField(
        default=0, help_text="The last part of the survey whose instructions were read."
    )
    order_key = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="What the order of its options rests on: its study's secret when it began. Empty: the study's seed.",
    )
    practice_round = models.PositiveSmallIntegerField(
        default=1, help_text="The round it is in, of all that its annotator has in the study."
    )
    arrived_at = models.DateTimeField()
    consented_at = models.DateTimeField(
        null=True, blank=True, help_text="When its annotator agreed to the consent text, the last time."
    )
    consent = models.ForeignKey(
        ConsentVersion,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="sessions",
        help_text="The text that its annotator agreed to last. Null: none, or not stored by older versions.",
    )
    asks_consent = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether its annotator is shown a changed consent text before the next question.",
    )
    first_question_at = models.DateTimeField(null=True, blank=True)
    last_seen_at = models.DateTimeField()
    lease_until = models.DateTimeField(help_text="When its seat is given to somebody else, unless it has ended.")
    more_time_at = models.DateTimeField(
        null=True, blank=True, help_text="When its annotator asked for more time, which is given once."
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    last_seat = models.ForeignKey(
        "annotation.Seat",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The seat it held last, to go on with after a lapse.",
    )
    handed_back_at = models.DateTimeField(null=True, blank=True, help_text="When the way back was first shown.")
    time_evidence: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True,
        blank=True,
        help_text="Evidence that its answer times are unlikely, as `analytics.work.answer_times.TimeEvidence`; null "
        "without any.",
    )
    times_accepted_at = models.DateTimeField(
        null=True, blank=True, help_text="When a researcher accepted its times despite the evidence."
    )
    network = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="From which network it began, as a digest whose key changes daily. Emptied after a day.",
    )
    comment = models.TextField(blank=True, help_text="What the annotator wrote on the last page.")

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ("-arrived_at",)
        constraints = (
            models.UniqueConstraint(fields=("study", "provider", "id_digest"), name="one_session_per_provider_session"),
            models.UniqueConstraint(
                fields=("study", "annotator"),
                condition=models.Q(state__in=sorted(OPEN_STATES)),
                name="one_open_session_per_annotator",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=sorted(OPEN_STATES), ended_at=None)
                | (~models.Q(state__in=sorted(OPEN_STATES)) & models.Q(ended_at__isnull=False)),
                name="session_ended_at_unless_open",
            ),
            models.CheckConstraint(
                condition=models.Q(questions_answered__lte=models.F("questions_total")),
                name="session_answers_at_most_what_it_was_given",
            ),
        )
        indexes = (
            models.Index(fields=("lease_until",), condition=models.Q(ended_at=None), name="open_sessions_by_lease"),
            models.Index(fields=("study", "network"), condition=~models.Q(network=""), name="sessions_of_a_network"),
            # Every page of a project asks whether it has any.
            models.Index(fields=("study",), condition=is_simulated(), name="simulated_sessions_of_a_study"),
        )

    @property
    def provider_session_id(self) -> str:
        """The provider's id of the session; "" if it was deleted. Raises CannotUnseal."""
        return self.open_id()

    @property
    def awaits_consent(self) -> bool:
        """Whether its next page is the consent page: at the beginning, or because the text has changed."""
        return self.state == SessionState.CONSENT or (self.asks_consent and self.state in OPEN_STATES)

    @property
    def has_unlikely_times(self) -> bool:
        """Whether its answer times are unlikely and no researcher has accepted them."""
        return self.time_evidence is not None and self.times_accepted_at is None

    @property
    def order_seed(self) -> str:
        """The seed of the option order; sessions of older versions use their study's seed."""
        return self.order_key or self.study.seed

    @property
    def seat(self) -> "Seat":
        """The seat that it holds or filled last. Raises Seat.DoesNotExist without one."""
        return self.seats.latest("claimed_at")

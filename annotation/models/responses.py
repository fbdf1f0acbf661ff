from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.functions import Coalesce, Greatest, Least

from analytics.outcomes import Outcome, outcome_of_question
from annotation.models.people import Annotator, NumberedRow, Removal
from annotation.models.seats import Slot
from annotation.models.sessions import Session
from studies.models import PracticeQuestion, Question, Study


def stands(path: str = "") -> models.Q:
    """Select answers that are current, in a slot, with neither their question nor their author removed.

    These are the counted answers and the answers to checks. Practice answers are not responses. path: leads from the
    filtered row to its responses, such as "responses__".
    """
    return models.Q(**{f"{path}is_current": True, f"{path}slot__isnull": False, f"{path}left_out": ""})


def counts(path: str = "") -> models.Q:
    """Select counted answers: those that stand, without answers to checks.

    The only definition behind every number. path: as for `stands`.
    """
    return stands(path) & models.Q(**{f"{path}is_check": False})


def took_ms() -> models.Case:
    """Compute the milliseconds of an answer from shown to sent, without the time out of view.

    At most the time that passed on the server; null if the browser measured nothing. An edited answer takes the time of
    its first version. The only definition behind every number about times.
    """
    first = Response.objects.filter(
        session=models.OuterRef("session"), question=models.OuterRef("question"), version=1
    ).values(ms=_in_view())
    return models.Case(models.When(version=1, then=_in_view()), default=models.Subquery(first))


def _in_view() -> models.Case:
    # Greatest ignores nulls on PostgreSQL, but not on SQLite.
    claimed = Greatest(models.F("send_ms") - Coalesce(models.F("hidden_ms"), 0), 0)
    in_view = Least(claimed, Coalesce(models.F("possible_ms"), claimed))
    return models.Case(models.When(send_ms__isnull=False, then=in_view), output_field=models.IntegerField(null=True))


# The source type of questions that are made from a response; the source id is the response's.
RESPONSE = "response"


class LeftOut(models.TextChoices):
    """Why an answer does not count: because of its author or its question."""

    WITHDRAWN = Removal.Why.WITHDRAWN.value, Removal.Why.WITHDRAWN.label
    EXCLUDED = Removal.Why.EXCLUDED.value, Removal.Why.EXCLUDED.label
    TAKEN_OUT = "taken_out", "Its question was taken out"


class ResponseQuerySet(models.QuerySet["Response"]):
    def counted(self) -> "ResponseQuerySet":
        """Return the counted answers, as defined by `counts`."""
        return self.filter(counts())

    def standing(self) -> "ResponseQuerySet":
        """Return the counted answers and the answers to checks, as defined by `stands`."""
        return self.filter(stands())

    def checks(self) -> "ResponseQuerySet":
        """Return the answers to checks that stand; they count nowhere."""
        return self.standing().filter(is_check=True)

    def counted_in(self, study: Study) -> "ResponseQuerySet":
        """Return the counted answers of `study`, unordered."""
        return self.counted().filter(study=study).order_by()


class Unmeasured(models.TextChoices):
    """Why the browser measured nothing about an answer, as reported by its page."""

    NO_SCRIPTS = "no_scripts", "The browser runs no scripts"
    SCRIPTS_LOST = "scripts_lost", "A script of the page did not come"
    SCRIPTS_LATE = "scripts_late", "The scripts of the page took too long"


class Response(NumberedRow):
    """One answer to one question in one session. Never overwritten: an edit is a new version.

    choice: its label; empty for kinds whose answers have none or several. answer: the whole answer in the format of its
    kind. Both and `shown_order` name options by key ("candidate-2", "none"), never by letter. received_at: server time.
    The `_ms` columns are milliseconds measured by the browser, used for description only (null: not measured;
    `unmeasured` is why, if known).
    """

    # Each index costs an answer time. One of those below begins with each key that has none of its own.
    study = models.ForeignKey(Study, on_delete=models.PROTECT, db_index=False, related_name="responses")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="responses")
    session = models.ForeignKey(Session, on_delete=models.PROTECT, db_index=False, related_name="responses")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="responses")
    slot = models.ForeignKey(
        Slot,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="responses",
        help_text="Null for an answer that came after its seat had gone to somebody else: kept, not counted.",
    )
    version = models.PositiveSmallIntegerField(default=1)
    is_current = models.BooleanField(default=True, help_text="False once a newer version has taken its place.")
    left_out = models.CharField(
        max_length=10,
        choices=LeftOut.choices,
        blank=True,
        default="",
        db_default="",
        help_text="Why it counts nowhere, because of the person who gave it or of its question.",
    )
    is_check = models.BooleanField(
        default=False, db_default=False, help_text="Whether its question is a check: then it counts nowhere."
    )
    submission_id = models.UUIDField(help_text="Made by the page for one press of Send, so that a repeat is known.")
    browser = models.UUIDField(
        null=True, blank=True, help_text="Made by the browser for this session; null where the page ran no scripts."
    )
    send_number = models.BigIntegerField(
        null=True, blank=True, help_text="Grows with every press of Send in `browser`, in whichever of its tabs."
    )
    choice = models.CharField(max_length=100, blank=True)
    answer: models.JSONField[Any, Any] = models.JSONField(
        null=True, help_text="Null for responses of older versions, which stored only `choice`."
    )
    shown_order: models.JSONField[list[str], list[str]] = models.JSONField()
    received_at = models.DateTimeField()
    first_choice_ms = models.PositiveIntegerField(
        null=True, blank=True, help_text="Milliseconds from shown to first choice."
    )
    send_ms = models.PositiveIntegerField(null=True, blank=True, help_text="Milliseconds from shown to sent.")
    hidden_ms = models.PositiveIntegerField(
        null=True, blank=True, help_text="The part of `send_ms` in which the tab was hidden."
    )
    possible_ms = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="The longest that its question can have been in sight by the server's clock, where the browser "
        "claimed more; null where it did not.",
    )
    changes_of_mind = models.PositiveSmallIntegerField(null=True, blank=True)
    window_width = models.PositiveSmallIntegerField(null=True, blank=True, help_text="CSS pixels.")
    window_height = models.PositiveSmallIntegerField(null=True, blank=True, help_text="CSS pixels.")
    unmeasured = models.CharField(
        max_length=20,
        choices=Unmeasured.choices,
        blank=True,
        default="",
        db_default="",
        help_text="Why the browser measured nothing; empty if it measured, or if the reason is unknown.",
    )
    images_seen: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField(
        default=list, help_text="Per image: option, loaded_ms, natural and shown size, failed loads."
    )

    writing: models.JSONField[dict[str, Any] | None, dict[str, Any] | None] = models.JSONField(
        null=True,
        blank=True,
        help_text="How its text was written, without what was written: see `annotation.forms`. Null where nothing is "
        "written, or the study does not record it.",
    )

    objects = ResponseQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("session", "submission_id"), name="submission_stored_once"),
            models.UniqueConstraint(fields=("session", "question", "version"), name="one_response_per_version"),
            models.UniqueConstraint(
                fields=("slot",),
                condition=models.Q(slot__isnull=False, is_current=True),
                name="one_current_response_per_slot",
            ),
            models.UniqueConstraint(
                fields=("question", "annotator"),
                condition=models.Q(is_current=True),
                name="one_current_response_per_annotator",
            ),
        )
        indexes = (models.Index(fields=("study", "received_at"), name="responses_of_a_study"),)

    @property
    def whole_answer(self) -> Any:
        """The whole answer; for rows of older versions that stored only a choice, the choice."""
        return self.choice if self.answer is None else self.answer

    @property
    def seconds_in_view(self) -> float | None:
        """Seconds from shown to sent of this version, without the time out of view; None if not measured.

        At most the time that passed on the server.
        """
        if self.send_ms is None:
            return None
        claimed = max(self.send_ms - (self.hidden_ms or 0), 0)
        return (claimed if self.possible_ms is None else min(claimed, self.possible_ms)) / 1000

    @property
    def does_stand(self) -> bool:
        """Whether `stands` selects it."""
        return self.is_current and self.slot_id is not None and not self.left_out

    @property
    def is_counted(self) -> bool:
        """Whether `counts` selects it."""
        return self.does_stand and not self.is_check


class AnswerNotice(NumberedRow):
    """A notice to the annotator about one of their answers, until they have seen it.

    `submission_id` names the answer; the answer that counts instead is looked up when the notice is shown.
    """

    class Why(models.TextChoices):
        SENT_AGAIN = "sent_again", "The same browser sent a later answer"
        OTHER_BROWSER = "other_browser", "Another browser sent an answer that arrived later"
        FIRST_STANDS = "first_stands", "The question had an answer already"
        NEWER_STANDS = "newer_stands", "The answer had been changed elsewhere"
        BUILT_ON = "built_on", "Another study builds on the answer that stands"
        ENDED = "ended", "The session had ended"
        MOVED = "moved", "A newer session asks the question again"
        LATE = "late", "Its place had gone to somebody else"
        WITHDRAWN = "withdrawn", "Its question had been withdrawn"
        SKIPPED = "skipped", "The session had gone on without the question"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="answer_notices")
    slot = models.ForeignKey(Slot, on_delete=models.CASCADE, related_name="answer_notices")
    submission_id = models.UUIDField()
    why = models.CharField(max_length=20, choices=Why.choices)
    number = models.PositiveIntegerField(help_text="The number of the question in its session, from 1.")
    answer: models.JSONField[Any, Any] = models.JSONField(
        null=True, help_text="The whole answer; null once the notice was seen."
    )
    at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("session", "submission_id", "why"), name="one_notice_per_answer_and_reason"
            ),
        )


class Draft(NumberedRow):
    """A draft of the answer to an open question; only its author sees it, and it is deleted with the answer."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, db_index=False, related_name="drafts")
    slot = models.ForeignKey(Slot, on_delete=models.CASCADE, related_name="drafts")
    fields: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(
        help_text="What the form holds, by the names of its fields."
    )
    number = models.PositiveIntegerField(default=1, help_text="Counts what was sent, so that a page knows the latest.")
    saved_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("session", "slot"), name="one_draft_per_slot"),)


class Skip(NumberedRow):
    """A question that a session skipped, because its images failed or its annotator reported it.

    It has no response, and its slot is free: somebody else gets it, this annotator never does.
    """

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="skips")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="skips")
    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="skips")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="skips")
    at = models.DateTimeField()
    images: models.JSONField[list[dict[str, Any]], list[dict[str, Any]]] = models.JSONField(
        help_text="Those that failed: option, image, failed_loads as the page counted, missing as the server found."
    )
    file_missing = models.BooleanField(help_text="The server itself could not show one of them.")

    class Meta:
        ordering = ("-at", "-id")
        constraints = (
            models.UniqueConstraint(fields=("question", "annotator"), name="question_skipped_once_per_annotator"),
        )
        indexes = (models.Index(fields=("study", "at"), name="skips_of_a_study"),)


class Report(NumberedRow):
    """A report by an annotator about a question, with an answer or instead of one.

    Instead of an answer it comes with a skip, which counts against the allowance of the session.
    """

    class Reason(models.TextChoices):
        BROKEN = "broken", "Something in it is broken"
        OFFENSIVE = "offensive", "It is offensive"
        UNANSWERABLE = "unanswerable", "It cannot be answered"
        OTHER = "other", "Something else"

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="reports")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="reports")
    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="reports")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="reports")
    reason = models.CharField(max_length=20, choices=Reason.choices)
    words = models.TextField(blank=True, help_text="What the annotator wrote with it.")
    at = models.DateTimeField(help_text="When it was sent, the last time.")
    instead_of_answer = models.BooleanField(default=False, help_text="They went on without answering.")

    class Meta:
        ordering = ("-at", "-id")
        constraints = (
            models.UniqueConstraint(fields=("question", "annotator"), name="question_reported_once_per_annotator"),
            models.CheckConstraint(
                condition=~models.Q(reason="other") | ~models.Q(words=""), name="other_reason_is_told_in_words"
            ),
        )
        indexes = (models.Index(fields=("study", "question"), name="reports_of_a_study"),)


class PracticeAnswer(NumberedRow):
    """An answer to a practice question, kept to count the tries that people need.

    Without a choice: the question was skipped because its image files were missing. Rounds belong to the annotator: a
    new session continues them.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="practice_answers")
    annotator = models.ForeignKey(
        Annotator,
        on_delete=models.PROTECT,
        null=True,
        related_name="practice_answers",
        help_text="Null only where the version before went on storing answers while this one was installed.",
    )
    practice_question = models.ForeignKey(PracticeQuestion, on_delete=models.PROTECT, related_name="answers")
    round = models.PositiveSmallIntegerField(default=1)
    choice = models.CharField(max_length=100, blank=True)
    is_right = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("annotator", "practice_question", "round"), name="one_try_per_round"),
        )


class Decision(models.Model):
    """The decision on a question from its responses, under a named, versioned rule.

    One row per question exists from launch on, so that it can be locked and updated.
    """

    class State(models.TextChoices):
        UNDECIDED = "undecided", "Undecided"
        ACCEPTED = "accepted", "Accepted"
        REJECTED = "rejected", "Rejected"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, db_index=False, related_name="decisions")
    question = models.OneToOneField(Question, on_delete=models.CASCADE, related_name="decision")
    rule = models.CharField(max_length=50)
    state = models.CharField(max_length=10, choices=State.choices, default=State.UNDECIDED)
    winner = models.CharField(max_length=100, blank=True, help_text="What it was accepted with, if with anything.")
    votes: models.JSONField[dict[str, int], dict[str, int]] = models.JSONField(default=dict)
    answers = models.PositiveSmallIntegerField(default=0, help_text="How many answers count.")
    asks_more = models.BooleanField(
        default=True, db_default=True, help_text="While undecided: whether one more answer could decide it."
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    more_asked_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When a researcher last changed how many answers its question may get: since then that is read anew "
        "with every answer, and not taken from the moment in which it was served.",
    )
    settled_choice = models.CharField(
        max_length=100,
        blank=True,
        help_text="The option that a researcher settled it with; empty if the answers decide.",
    )
    settled_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    settled_note = models.TextField(blank=True)

    class Meta:
        ordering = ("question_id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(state="accepted") | models.Q(winner=""), name="winner_only_when_accepted"
            ),
        )
        indexes = (
            models.Index(fields=("study", "state"), name="decisions_by_state"),
            # Undecided questions with answers are few among many without any.
            models.Index(
                fields=("study", "question"),
                condition=models.Q(state="undecided", answers__gt=0),
                name="answered_but_undecided",
            ),
            models.Index(
                fields=("study", "question"),
                condition=~models.Q(settled_choice=""),
                name="settled_questions_of_a_study",
            ),
        )

    def __str__(self) -> str:
        return f"{self.state} under {self.rule}"

    @property
    def outcome(self) -> Outcome:
        """The outcome of its question; reads the question and its study."""
        return outcome_of_question(
            self.state,
            answers=self.answers,
            wanted=self.question.answers_wanted,
            accepts=self.question.study.accepts,
            undone=self.question.undone_at is not None,
        )

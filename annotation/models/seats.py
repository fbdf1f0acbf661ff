from django.db import models

from annotation.models.people import Annotator
from annotation.models.sessions import Session
from studies.models import Question, Study, Survey


class Seat(models.Model):
    """The right to take a survey. All seats exist from launch on; a session claims one and may release it.

    A live session claims another one when its seat is filled.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="seats")
    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField(help_text="From 1, within the survey.")
    session = models.ForeignKey(Session, on_delete=models.PROTECT, null=True, blank=True, related_name="seats")
    claimed_at = models.DateTimeField(null=True, blank=True)
    filled_at = models.DateTimeField(null=True, blank=True, help_text="When its last question was answered.")

    class Meta:
        ordering = ("survey_id", "number")
        constraints = (
            models.UniqueConstraint(fields=("survey", "number"), name="seat_number_once_per_survey"),
            models.UniqueConstraint(
                fields=("session",), condition=models.Q(filled_at=None), name="one_unfilled_seat_per_session"
            ),
            models.CheckConstraint(
                condition=models.Q(session=None, claimed_at=None)
                | models.Q(session__isnull=False, claimed_at__isnull=False),
                name="seat_claim_is_whole",
            ),
        )
        indexes = (
            models.Index(
                fields=("study", "survey", "number"),
                condition=models.Q(session=None, filled_at=None),
                name="free_seats_of_a_study",
            ),
        )

    def __str__(self) -> str:
        return f"seat {self.number} of survey {self.survey_id}"


# Slots of places that are not filled yet, whose answers are still to come.
IS_OPEN = models.Q(answered_at=None, seat__filled_at=None, question__undone_at=None)
# Checks are not counted.
IS_TO_COME = IS_OPEN & models.Q(is_check=False)


class SlotQuerySet(models.QuerySet["Slot"]):
    def ordinary(self) -> "SlotQuerySet":
        """Leave out the slots of checks, which no number counts."""
        return self.filter(is_check=False)

    def still_asked(self) -> "SlotQuerySet":
        """Leave out unanswered slots of undone questions."""
        return self.exclude(answered_at=None, question__undone_at__isnull=False)

    def wanted(self) -> "SlotQuerySet":
        """Return the slots whose answer counts or is still wanted, without checks and questions that were taken out."""
        return self.ordinary().still_asked().filter(question__taken_out_at=None)

    def to_come(self) -> "SlotQuerySet":
        return self.filter(IS_TO_COME)

    def paid_to_come(self) -> "SlotQuerySet":
        """Return the slots whose answers are to come, and the open checks of their seats, which are paid too."""
        asked = Slot.objects.wanted().to_come().filter(seat=models.OuterRef("seat"))
        is_paid = models.Q(is_check=False) | models.Exists(asked)
        return self.filter(IS_OPEN, is_paid, question__taken_out_at=None)


class Slot(models.Model):
    """The place of one answer: a question within a seat. One exists per wanted answer, from launch on.

    `annotator` is set while somebody holds the seat, and permanently once the slot is answered, so that a database
    constraint prevents anybody from getting a question twice. A question is withdrawn when the author of its text
    withdraws, or a researcher takes it out.
    """

    seat = models.ForeignKey(Seat, on_delete=models.CASCADE, db_index=False, related_name="slots")
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="slots")
    position = models.PositiveIntegerField(help_text="From 0, within the seat.")
    part = models.PositiveSmallIntegerField(default=0, help_text="The part of the survey, as its question has it.")
    is_check = models.BooleanField(
        default=False, db_default=False, help_text="Whether its question is a check, as the question has it."
    )
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, null=True, blank=True, related_name="slots")
    answered_at = models.DateTimeField(null=True, blank=True)
    withdrawn_from = models.ForeignKey(
        Session,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        db_index=False,
        related_name="withdrawn_slots",
        help_text="The session that held it when its question was withdrawn.",
    )

    objects = SlotQuerySet.as_manager()

    class Meta:
        ordering = ("seat_id", "position")
        constraints = (
            models.UniqueConstraint(fields=("seat", "position"), name="one_slot_per_position"),
            models.UniqueConstraint(
                fields=("question", "annotator"),
                condition=models.Q(annotator__isnull=False),
                name="question_once_per_annotator",
            ),
            models.CheckConstraint(
                condition=models.Q(answered_at=None) | models.Q(annotator__isnull=False),
                name="answered_slot_has_an_annotator",
            ),
        )
        indexes = (
            models.Index(
                fields=("seat", "position"), condition=models.Q(answered_at=None), name="open_slots_of_a_seat"
            ),
            models.Index(
                fields=("withdrawn_from",),
                condition=models.Q(withdrawn_from__isnull=False),
                name="slots_withdrawn_from_sessions",
            ),
        )

    def __str__(self) -> str:
        return f"slot {self.position} of seat {self.seat_id}"

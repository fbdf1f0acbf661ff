"""The ledger: what was ordered to be paid, and what became of it."""

from django.conf import settings
from django.db import models

from annotation.models.people import Annotator, NumberedRow
from annotation.models.prolific import ProlificStudy
from annotation.models.sessions import Session
from studies.models import Study


class Payment(NumberedRow):
    """One amount that was ordered for one reason. Rows are never deleted, and only their state changes.

    The unique constraint is what keeps two workers, a doubled click or a restart from paying twice.
    """

    class Reason(models.TextChoices):
        REWARD = "reward", "Reward of the submission"
        PART = "part", "Part of the reward"
        SCREEN_OUT = "screen_out", "Pay for being screened out"
        ANSWERS = "answers", "Pay per answer"
        WAITING = "waiting", "Pay for waiting"
        DESCRIPTION = "description", "Bonus for an accepted description"
        HOURLY_FLOOR = "hourly_floor", "Raise to an hourly wage"
        DECIDED = "decided", "Bonus decided by a researcher"

    class State(models.TextChoices):
        """No worker changes a payment in one of the `SETTLED` states."""

        PLANNED = "planned", "Planned"
        SENDING = "sending", "Being sent"
        REQUESTED = "requested", "Accepted by Prolific, which does not show it yet"
        PAID = "paid", "Paid"
        UNCERTAIN = "uncertain", "Held: Prolific may or may not have paid it"
        REFUSED = "refused", "Refused by Prolific"
        CANCELLED = "cancelled", "Cancelled before it was sent"

    SETTLED = (State.PAID, State.REFUSED, State.CANCELLED)

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="payments")
    annotator = models.ForeignKey(
        Annotator, on_delete=models.SET_NULL, null=True, related_name="payments", help_text="Null: was erased."
    )
    session = models.ForeignKey(
        Session, on_delete=models.SET_NULL, null=True, related_name="payments", help_text="Null: was erased."
    )
    prolific_study = models.ForeignKey(
        ProlificStudy, on_delete=models.PROTECT, null=True, blank=True, related_name="payments"
    )
    reason = models.CharField(max_length=20, choices=Reason.choices)
    subject = models.CharField(
        max_length=40, blank=True, help_text="The number of the description that a bonus is for; else empty."
    )
    amount = models.DecimalField(max_digits=10, decimal_places=2, help_text="In whole units, without fees.")
    currency = models.CharField(max_length=3)
    ordered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    ordered_at = models.DateTimeField()
    note = models.TextField(blank=True, help_text="What the researcher wrote about it.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.PLANNED)
    state_at = models.DateTimeField(help_text="Since when it has its state.")
    remote_id = models.CharField(
        max_length=100, blank=True, help_text="The id of the bonuses at Prolific that it was set up with; else empty."
    )
    problem = models.TextField(blank=True, help_text="Why it was refused or is held, in a sentence.")

    class Meta:
        ordering = ("ordered_at", "pk")
        constraints = (
            models.UniqueConstraint(fields=("session", "reason", "subject"), name="paid_once_for_each_reason"),
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="payment_is_an_amount"),
        )
        indexes = (models.Index(fields=("study", "state"), name="payments_by_state"),)

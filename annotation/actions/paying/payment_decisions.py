"""What an owner decides about payments that are held or were refused."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from analytics.work.ledger import in_cents
from annotation.actions.paying.confirm_payments import settle_session
from annotation.actions.paying.order_payments import BONUSES, REWARDS, VOID, CannotPay, lock
from annotation.actions.paying.payment_states import State, move
from annotation.actions.paying.send_rewards import AFTER
from annotation.actions.paying.submission_ids import submission_ids, without_ids
from annotation.actions.recruiting.prolific_account import connect
from annotation.models import Payment, ProlificAccount
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from studies.actions.events import Actor, What, record
from studies.models import Study

# Prolific pays bonuses after it has answered: one that is missing may still come.
LEAST_AGE = timedelta(hours=1)
# Somebody waits for the page.
SECONDS = 30
NOT_ASKED = "Prolific cannot be asked: there is no token, or no submission."
CHANGED = "This payment has changed meanwhile. Look at it again."
TOO_EARLY = "Prolific may still pay this. You can decide an hour after it was sent."


@transaction.atomic
def send_refused(*, study: Study, payments: Sequence[Payment], by: Actor, now: datetime) -> int:
    """Plan refused payments again; return how many. Raises CannotPay if there is none.

    A session gets one reward at most: the one that was ordered last.
    """
    lock(study)
    refused = [row for row in payments if row.state == State.REFUSED]
    if not refused:
        raise CannotPay("None of these payments is refused, so there is nothing to send again.")
    live = Payment.objects.filter(study=study, reason__in=REWARDS, session__isnull=False).exclude(state__in=VOID)
    rewarded = set(live.values_list("session_id", flat=True))
    rows = []
    for row in sorted(refused, key=lambda row: (row.ordered_at, row.pk), reverse=True):
        if row.reason in REWARDS and row.session_id in rewarded:
            continue
        rewarded |= {row.session_id} if row.reason in REWARDS and row.session_id else set()
        rows.append(row)
    moved = move(rows, to=State.PLANNED, now=now)
    if not moved:
        raise CannotPay("Another reward of this session was ordered since, so this one is not sent again.")
    _record(study, What.PAYMENTS_SENT_AGAIN, moved, by, now)
    return len(moved)


@dataclass(frozen=True)
class BatchReading:
    """What Prolific says of all bonuses of a study, beside the ledger; in cents. held: all that are held."""

    there: int
    paid: int
    held: int
    requested: int

    @property
    def none_paid(self) -> bool:
        """Whether Prolific's total leaves nothing for what is held."""
        return self.there == self.paid and not self.requested

    @property
    def all_paid(self) -> bool:
        """Whether Prolific's total is that of everything in the ledger, also of what is held."""
        return self.there == self.paid + self.held and not self.requested


def held_batch(payment: Payment) -> list[Payment]:
    """Return the held bonuses that were sent with this one, and itself."""
    if not payment.remote_id or payment.reason not in BONUSES:
        return [payment]
    rows = Payment.objects.filter(study=payment.study_id, remote_id=payment.remote_id, state=State.UNCERTAIN)
    return list(rows.filter(reason__in=BONUSES).select_related("study__project", "prolific_study").order_by("pk"))


def read_batch(payment: Payment) -> BatchReading:
    """Ask Prolific for the total of a study's bonuses. Raises CannotPay."""
    row = payment.prolific_study
    if row is None:
        raise CannotPay(NOT_ASKED)
    try:
        client = _connect(payment)
        with client.within(SECONDS):
            there = client.read_cost(row.remote_id).bonuses.rewards.amount
    except ProlificError as error:
        raise CannotPay(f"Prolific could not be asked. {without_ids(error)}") from error
    cents: Counter[str] = Counter()
    for state, amount in row.payments.filter(reason__in=BONUSES).values_list("state", "amount"):
        cents[state] += in_cents(amount)
    return BatchReading(there, cents[State.PAID], cents[State.UNCERTAIN], cents[State.REQUESTED])


@transaction.atomic
def note_paid(*, payments: Sequence[Payment], by: Actor, now: datetime) -> int:
    """Note that an owner sees on Prolific that held payments were paid; return how many. Raises CannotPay."""
    _check_held(payments)
    moved = move(payments, to=State.PAID, now=now)
    if not moved:
        raise CannotPay(CHANGED)
    _record(payments[0].study, What.PAYMENT_FOUND_PAID, moved, by, now)
    return len(moved)


def note_unpaid(*, payments: Sequence[Payment], by: Actor, now: datetime) -> int:
    """Plan held payments of a study again that an owner saw were not paid; return how many. Raises CannotPay.

    Prolific is asked about each once more. What it shows is noted as paid. What there is no time to ask about stays
    held. Asks Prolific: call it outside of transactions.
    """
    _check_held(payments)
    if any(payment.state_at > now - LEAST_AGE for payment in payments):
        raise CannotPay(TOO_EARLY)
    sessions = {payment.session_id for payment in payments}
    alike = Payment.objects.filter(session__in=sessions, reason__in=BONUSES, state=State.REQUESTED)
    waiting = set(alike.values_list("session", flat=True))
    asked = [payment for payment in payments if payment.session_id not in waiting]
    if not asked:
        raise CannotPay("Another bonus of this person is on its way. Decide once Prolific shows it.")
    unpaid = _not_shown(asked, now)
    if not unpaid:
        raise CannotPay("Prolific shows this payment now, so it was paid.")
    return len(_plan_again(unpaid, by, now))


@transaction.atomic
def _plan_again(payments: Sequence[Payment], by: Actor, now: datetime) -> list[Payment]:
    moved = move(payments, to=State.PLANNED, now=now)
    if not moved:
        raise CannotPay(CHANGED)
    _record(payments[0].study, What.PAYMENT_FOUND_UNPAID, moved, by, now)
    return moved


def _not_shown(payments: Sequence[Payment], now: datetime) -> list[Payment]:
    """Return those that Prolific does not show, of all that there is time to ask about. Raises CannotPay."""
    ids = submission_ids(payments)
    found, asked = [], 0
    try:
        client = _connect(payments[0])
        with client.within(SECONDS):
            for payment in payments:
                if payment.pk in ids:
                    shown = _is_shown(client, payment, ids[payment.pk], now)
                    asked += 1
                    found += [] if shown else [payment]
    except ProlificError as error:
        if not asked:
            raise CannotPay(f"Prolific could not be asked. {without_ids(error)}") from error
    if not asked:
        raise CannotPay(NOT_ASKED)
    return found


def _is_shown(client: Client, payment: Payment, id_: str, now: datetime) -> bool:
    """Ask Prolific, and note what it shows; return whether this payment is paid. Raises ProlificError."""
    submission = client.read_submission(id_)
    if payment.reason in AFTER:
        return submission.status == AFTER[payment.reason]
    if payment.session_id is not None:
        settle_session(payment.session_id, submission.bonus_payments, now)
    return Payment.objects.filter(pk=payment.pk, state=State.PAID).exists()


def shown_on_prolific(payment: Payment) -> tuple[str, tuple[int, ...]]:
    """Return the status of a payment's submission now, and its bonuses in cents. Raises CannotPay."""
    ids = submission_ids([payment])
    if payment.pk not in ids:
        raise CannotPay(NOT_ASKED)
    try:
        client = _connect(payment)
        with client.within(SECONDS):
            submission = client.read_submission(ids[payment.pk])
    except ProlificError as error:
        raise CannotPay(f"Prolific could not be asked. {without_ids(error)}") from error
    return submission.status, submission.bonus_payments


def _connect(payment: Payment) -> Client:
    """Raises CannotPay without a token, and ProlificError if it cannot be read."""
    account = ProlificAccount.objects.filter(project=payment.study.project_id).first()
    if account is None:
        raise CannotPay(NOT_ASKED)
    return connect(account)


def _check_held(payments: Sequence[Payment]) -> None:
    if not payments or any(payment.state != State.UNCERTAIN for payment in payments):
        raise CannotPay("This payment is not held, so there is nothing to decide.")


def _record(study: Study, what: What, rows: Sequence[Payment], by: Actor, now: datetime) -> None:
    cents = sum(in_cents(row.amount) for row in rows)
    told = {"payments": len(rows), "amount": f"{cents / 100:.2f}", "currency": rows[0].currency}
    record(project=study.project, study=study, what=what, by=by, now=now, **told)

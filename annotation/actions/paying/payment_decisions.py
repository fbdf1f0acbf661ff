"""What an owner decides about payments that are held or were refused."""

from collections.abc import Sequence
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
from annotation.recruitment.prolific.connection import ProlificError
from studies.actions.events import Actor, What, record
from studies.models import Study

# Prolific pays bonuses after it has answered: one that is missing may still come.
LEAST_AGE = timedelta(hours=1)
# Somebody waits for the page.
SECONDS = 30
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


@transaction.atomic
def note_paid(*, payment: Payment, by: Actor, now: datetime) -> None:
    """Note that an owner sees on Prolific that a held payment was paid. Raises CannotPay."""
    _check_held(payment)
    if not move([payment], to=State.PAID, now=now):
        raise CannotPay("This payment has changed meanwhile. Look at it again.")
    _record(payment.study, What.PAYMENT_FOUND_PAID, [payment], by, now)


def note_unpaid(*, payment: Payment, by: Actor, now: datetime) -> None:
    """Plan a held payment again: an owner saw that it was not paid, and Prolific does not show it. Raises CannotPay.

    Asks Prolific: call it outside of transactions.
    """
    _check_held(payment)
    if payment.state_at > now - LEAST_AGE:
        raise CannotPay(TOO_EARLY)
    alike = Payment.objects.filter(session=payment.session_id, reason__in=BONUSES, state=State.REQUESTED)
    if alike.exists():
        raise CannotPay("Another bonus of this person is on its way. Decide once Prolific shows it.")
    if _is_shown(payment, now):
        raise CannotPay("Prolific shows this payment now, so it was paid.")
    _plan_again(payment, by, now)


@transaction.atomic
def _plan_again(payment: Payment, by: Actor, now: datetime) -> None:
    if not move([payment], to=State.PLANNED, now=now):
        raise CannotPay("This payment has changed meanwhile. Look at it again.")
    _record(payment.study, What.PAYMENT_FOUND_UNPAID, [payment], by, now)


def shown_on_prolific(payment: Payment) -> tuple[str, tuple[int, ...]]:
    """Return the status of a payment's submission now, and its bonuses in cents. Raises CannotPay."""
    try:
        account = ProlificAccount.objects.get(project=payment.study.project_id)
        client = connect(account)
        with client.within(SECONDS):
            submission = client.read_submission(submission_ids([payment])[payment.pk])
    except (ProlificAccount.DoesNotExist, KeyError):
        raise CannotPay("Prolific cannot be asked: there is no token, or no submission.") from None
    except ProlificError as error:
        raise CannotPay(f"Prolific could not be asked. {without_ids(error)}") from error
    return submission.status, submission.bonus_payments


def _is_shown(payment: Payment, now: datetime) -> bool:
    """Ask Prolific, and note what it shows; return whether this payment is paid."""
    status, bonuses = shown_on_prolific(payment)
    if payment.reason in AFTER:
        return status == AFTER[payment.reason]
    if payment.session_id is not None:
        settle_session(payment.session_id, bonuses, now)
    payment_now = Payment.objects.get(pk=payment.pk)
    return payment_now.state == State.PAID


def _check_held(payment: Payment) -> None:
    if payment.state != State.UNCERTAIN:
        raise CannotPay("This payment is not held, so there is nothing to decide.")


def _record(study: Study, what: What, rows: Sequence[Payment], by: Actor, now: datetime) -> None:
    cents = sum(in_cents(row.amount) for row in rows)
    told = {"payments": len(rows), "amount": f"{cents / 100:.2f}", "currency": rows[0].currency}
    record(project=study.project, study=study, what=what, by=by, now=now, **told)

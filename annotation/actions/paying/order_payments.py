"""Order payments. An order is a row of the ledger, and the unique constraint makes its repetition harmless."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import cast

from django.db import transaction

from analytics.work.ledger import CENT, PERCENTS, percent_of_reward
from annotation.models import Payment, Session, SessionState, Submission
from annotation.recruitment.prolific.statuses import SubmissionStatus
from annotation.review_marks import review_marks
from annotation.session_pay import stored_answers
from studies.actions.events import Actor, What, person, record
from studies.models import Study
from studies.wording import format_money

Reason, State = Payment.Reason, Payment.State
# Of a session, one of these at most.
REWARDS = frozenset({Reason.REWARD, Reason.PART, Reason.SCREEN_OUT})
# Paid as bonuses, in batches that pay again at every call.
BONUSES = frozenset(Reason) - REWARDS
# Nothing was paid or will be.
VOID = frozenset({State.CANCELLED, State.REFUSED})
LARGEST = Decimal("999999.99")


class CannotPay(Exception):
    """An order, or a decision about a payment, is not possible. The message is a sentence for people."""


@dataclass(frozen=True)
class Order:
    """An amount that somebody wants paid for a session (by id). subject: the description that a bonus is for."""

    session: int
    reason: str
    amount: Decimal
    subject: str = ""
    note: str = ""


@dataclass(frozen=True)
class OrderResult:
    """How many payments were `made`, their total `amount` in major units, and how many were `known` before."""

    made: int
    known: int
    amount: Decimal
    currency: str

    def __str__(self) -> str:
        payments = "1 payment" if self.made == 1 else f"{self.made:,} payments"
        total = f", {format_money(self.amount, self.currency)} in all, without fees" if self.made else ""
        before = f" {self.known:,} {'was' if self.known == 1 else 'were'} ordered before." if self.known else ""
        return f"{payments} ordered{total}.{before}"


@transaction.atomic
def order_payments(*, study: Study, orders: Sequence[Order], by: Actor, now: datetime) -> OrderResult:
    """Order amounts for sessions of `study`; those ordered before stay as they are.

    A cancelled one, that was never sent, is ordered again with the new amount, and a refused reward too: Prolific may
    have refused it for a status that has changed since. Raises CannotPay.
    """
    lock(study)
    submissions = _submissions(study, {order.session for order in orders})
    known = {(row.session_id, row.reason, row.subject): row for row in study.payments.filter(session__in=submissions)}
    rewarded = {session for (session, reason, _), row in known.items() if reason in REWARDS and row.state not in VOID}
    new: dict[tuple[int, str, str], Payment] = {}
    again, amount = 0, Decimal(0)
    for order in orders:
        submission = submissions.get(order.session)
        if submission is None:
            raise CannotPay("A session has no submission on Prolific, so it cannot be paid there.")
        _check_amount(order.amount)
        _check_currency(study, submission)
        key = (order.session, order.reason, order.subject)
        before = known.get(key)
        if (before is None and key not in new) or (before is not None and before.state in _again(order)):
            if order.reason in REWARDS and order.session in rewarded:
                continue
            rewarded |= {order.session} if order.reason in REWARDS else set()
            amount += order.amount
            row = _row(order, submission, study, by, now)
            if before is None:
                new[key] = row
            else:
                # Set up before: what Prolific shows is looked at before it is sent.
                row.pk, row.remote_id = before.pk, before.remote_id
                row.save()
                again += 1
    made = len(new) + again
    Payment.objects.bulk_create(new.values(), ignore_conflicts=True)
    if made:
        reasons = sorted({order.reason for order in orders})
        told = {"payments": made, "amount": str(amount), "currency": _currency(study), "reasons": ", ".join(reasons)}
        record(project=study.project, study=study, what=What.PAYMENTS_ORDERED, by=by, now=now, **told)
    return OrderResult(made, len(orders) - made, amount, _currency(study))


@transaction.atomic
def order_rewards(*, study: Study, sessions: Collection[int], chosen: bool, by: Actor, now: datetime) -> OrderResult:
    """Order the reward of sessions whose submissions await review.

    chosen: somebody decided about each of them. Otherwise, sessions that are unfinished or marked are left out, also if
    the mark came after the page was loaded. Raises CannotPay if nothing is left.
    """
    submissions = _submissions(study, sessions).values()
    answers = stored_answers(sessions)
    orders = [
        Order(submission.session_id, Reason.REWARD, submission.prolific_study.reward)
        for submission in submissions
        if submission.session_id is not None
        and submission.status == SubmissionStatus.AWAITING_REVIEW
        and (chosen or is_unmarked(submission, answers.get(submission.session_id, 0)))
    ]
    if not orders:
        raise CannotPay("None of these submissions can be approved now. Nothing was ordered.")
    return order_payments(study=study, orders=orders, by=by, now=now)


def is_unmarked(submission: Submission, answers: int) -> bool:
    """Whether a submission may be approved without anybody looking at it."""
    session = submission.session
    return session is not None and session.state == SessionState.FINISHED and not review_marks(submission, answers)


@transaction.atomic
def cancel_payment(*, payment: Payment, by: Actor, now: datetime) -> None:
    """Cancel a payment that no worker has begun to send, or that was refused. Raises CannotPay."""
    rows = Payment.objects.filter(pk=payment.pk, state__in=(State.PLANNED, State.REFUSED))
    if not rows.update(state=State.CANCELLED, state_at=now):
        raise CannotPay("This payment can no longer be cancelled: it is being sent or was sent.")
    study = payment.study
    told = {"amount": str(payment.amount), "currency": payment.currency, "reasons": payment.reason, "payments": 1}
    record(project=study.project, study=study, what=What.PAYMENT_CANCELLED, by=by, now=now, **told)


def _again(order: Order) -> Collection[str]:
    """Return the states in which a payment is ordered again. A reward is never paid twice; a bonus may be."""
    return VOID if order.reason in REWARDS else {State.CANCELLED}


def lock(study: Study) -> None:
    """Order one after another in a study, so that each order knows what was ordered before."""
    Study.objects.select_for_update(of=("self",), no_key=True).get(pk=study.pk)


def _submissions(study: Study, sessions: Iterable[int]) -> dict[int, Submission]:
    """Return the submission of each of these sessions of `study` that has one."""
    found = Submission.objects.filter(session__in=sessions, session__study=study)
    found = found.select_related("prolific_study", "session__study")
    return {each.session_id: each for each in found if each.session_id is not None}


def _row(order: Order, submission: Submission, study: Study, by: Actor, now: datetime) -> Payment:
    session = cast(Session, submission.session)
    return Payment(
        study=study,
        annotator_id=session.annotator_id,
        session=session,
        prolific_study=submission.prolific_study,
        reason=order.reason,
        subject=order.subject,
        amount=order.amount,
        currency=submission.prolific_study.currency,
        ordered_by=person(by),
        ordered_at=now,
        note=order.note,
        state=State.PLANNED,
        state_at=now,
    )


def _check_amount(amount: Decimal) -> None:
    if not 0 < amount <= LARGEST or amount != amount.quantize(CENT):
        raise CannotPay(f"An amount is from 0.01 to {LARGEST:,}, with two decimals. It is {amount}.")


def check_part(reward: Decimal, amount: Decimal) -> None:
    """Raise CannotPay if Prolific cannot pay `amount` as a part of `reward`."""
    if percent_of_reward(reward, amount) is None:
        low, high = min(PERCENTS), max(PERCENTS)
        least, most = (reward * percent / 100 for percent in (low, high))
        raise CannotPay(
            f"A part is from {low} to {high} % of the reward: from {least:.2f} to {most:.2f}, in whole percent."
        )


def _check_currency(study: Study, submission: Submission) -> None:
    here, there = _currency(study), submission.prolific_study.currency
    if here != there:
        raise CannotPay(f"{study.slug} pays in {here}, and its study on Prolific in {there}. Pay these on Prolific.")


def _currency(study: Study) -> str:
    return study.design.pay.currency

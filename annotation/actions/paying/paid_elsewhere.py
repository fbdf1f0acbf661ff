"""Rewards that Prolific paid without an order here, added to the ledger as paid.

Prolific tells neither the part of a reward nor, if another draft was used, the pay for being screened out. An owner
enters these, up to what Prolific says that all rewards of the study have cost.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from analytics.work.ledger import from_cents, in_cents
from annotation.actions.paying.order_payments import REWARDS, VOID, CannotPay, Reason, State, check_part, lock
from annotation.actions.paying.submission_ids import without_ids
from annotation.actions.recruiting.prolific_account import connect_project
from annotation.models import Payment, ProlificStudy, Submission
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.researcher_codes import screen_out_pay
from annotation.recruitment.prolific.statuses import SubmissionStatus
from studies.actions.events import TIMETABLE, Actor, What, person, record
from studies.models import Study
from studies.wording import format_money

S = SubmissionStatus
# Somebody waits for the page.
SECONDS = 10
NOTE = "Paid on Prolific without an order here."
SCREENED_OUT = "Paid on Prolific with the completion code of the practice."
# Status -> why a difference cannot be told.
UNKNOWN_AMOUNTS: Mapping[str, str] = {
    S.PARTIALLY_APPROVED: "Paid in part on Prolific, which does not say how much.",
    S.SCREENED_OUT: "Screened out on Prolific, which does not say for how much.",
}
_REASONS: Mapping[str, str] = {S.PARTIALLY_APPROVED: Reason.PART, S.SCREENED_OUT: Reason.SCREEN_OUT}


def reward_there(submission: Submission, status: str, rows: Sequence[Payment]) -> int | None:
    """Return the cents that a status means, None if only an owner can tell. rows: of the ledger, for its session."""
    if status == S.APPROVED:
        return in_cents(submission.prolific_study.reward)
    if status not in _REASONS:
        return 0
    fixed = screen_out_pay(submission.prolific_study.details) if status == S.SCREENED_OUT else None
    if fixed is not None:
        return in_cents(fixed)
    told = [in_cents(row.amount) for row in rows if row.reason == _REASONS[status] and row.state not in VOID]
    return sum(told) if told else None


def unrecorded(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Return those of a session for which the ledger has no reward, whether paid or ordered."""
    live = Payment.objects.filter(session=OuterRef("session"), reason__in=REWARDS).exclude(state__in=VOID)
    found = submissions.filter(~Exists(live), session__isnull=False)
    return found.select_related("session", "prolific_study__study__project")


def note_rewards(*, study: Study, by: Actor, now: datetime) -> int:
    """Add approved submissions without an order to the ledger; return how many."""
    approved = Submission.objects.filter(prolific_study__study=study, status=S.APPROVED)
    return _add(study, Reason.REWARD, approved, None, NOTE, by, now)


def note_screen_outs(submissions: QuerySet[Submission], now: datetime) -> None:
    """Add people whom Prolific has paid for being screened out: the draft that an owner published ordered it."""
    screened_out = submissions.filter(status=S.SCREENED_OUT)
    paying = ProlificStudy.objects.filter(pk__in=unrecorded(screened_out).values("prolific_study"))
    for row in paying.select_related("study__project"):
        pay = screen_out_pay(row.details)
        if pay is not None:
            its = screened_out.filter(prolific_study=row)
            _add(row.study, Reason.SCREEN_OUT, its, pay, SCREENED_OUT, TIMETABLE, now)


def note_amount(*, submission: Submission, amount: Decimal, by: Actor, now: datetime) -> None:
    """Add what an owner says that Prolific paid for a part, or for being screened out. Raises CannotPay.

    Asks Prolific for the total of the study: call it outside of transactions.
    """
    row = submission.prolific_study
    _check_amount(submission, amount)
    try:
        client = connect_project(row.study.project)
        with client.within(SECONDS):
            total = _read_rewards(client, row)
    except ProlificError as error:
        raise CannotPay(f"Prolific could not be asked. {without_ids(error)}") from error
    _add_amount(submission, amount, total, by, now)


@transaction.atomic
def _add_amount(submission: Submission, amount: Decimal, total: int, by: Actor, now: datetime) -> None:
    """Add an amount if the total of the study leaves it, also beside what somebody added meanwhile."""
    row = submission.prolific_study
    lock(row.study)
    left = total - _known_rewards(row)
    if in_cents(amount) > left:
        raise CannotPay(
            f"Prolific says that at most {format_money(from_cents(max(left, 0)), row.currency)} was paid for this. "
            "Check the amount on Prolific."
        )
    its = Submission.objects.filter(pk=submission.pk, status=submission.status)
    if not _add(row.study, _REASONS[submission.status], its, amount, NOTE, by, now):
        raise CannotPay("The ledger has a reward of this session already.")


def _check_amount(submission: Submission, amount: Decimal) -> None:
    reward = submission.prolific_study.reward
    if submission.session_id is None:
        raise CannotPay("Nobody came here with this submission, so the ledger cannot list it.")
    if submission.status not in _REASONS:
        raise CannotPay("Prolific paid neither a part nor a screen-out for this session.")
    if submission.status == S.PARTIALLY_APPROVED:
        check_part(reward, amount)
    if not 0 < amount < reward:
        raise CannotPay(f"Being screened out pays more than 0 and less than the reward of {reward:.2f}.")


def unexplained_rewards(client: Client, row: ProlificStudy) -> int:
    """Return the cents of rewards that Prolific says a study has cost, without those that are known.

    Raises ProlificError.
    """
    return _read_rewards(client, row) - _known_rewards(row)


def _read_rewards(client: Client, row: ProlificStudy) -> int:
    return client.read_cost(row.remote_id).rewards.rewards.amount


def _known_rewards(row: ProlificStudy) -> int:
    """Return the cents of rewards of a study that its submissions and the ledger explain."""
    payments: dict[int, list[Payment]] = {}
    for payment in Payment.objects.filter(prolific_study=row, session__isnull=False):
        payments.setdefault(payment.session_id or 0, []).append(payment)
    known = 0
    for submission in row.submissions.filter(status__in=[S.APPROVED, *_REASONS]):
        submission.prolific_study = row
        known += reward_there(submission, submission.status, payments.get(submission.session_id or 0, [])) or 0
    return known


@transaction.atomic
def _add(
    study: Study,
    reason: str,
    submissions: QuerySet[Submission],
    amount: Decimal | None,
    note: str,
    by: Actor,
    now: datetime,
) -> int:
    """Add submissions that have no reward in the ledger as paid; return how many. amount: None for the reward."""
    lock(study)
    found = list(unrecorded(submissions))
    same = Payment.objects.filter(session__in=[each.session_id for each in found], reason=reason, subject="")
    # In the place of one that was cancelled or refused.
    void = dict(same.values_list("session", "pk"))
    for each in found:
        Payment(
            pk=void.get(each.session_id or 0),
            study=study,
            annotator_id=each.session.annotator_id if each.session else None,
            session=each.session,
            prolific_study=each.prolific_study,
            reason=reason,
            amount=each.prolific_study.reward if amount is None else amount,
            currency=each.prolific_study.currency,
            ordered_by=person(by),
            ordered_at=now,
            note=note,
            state=State.PAID,
            state_at=now,
        ).save()
    if found:
        record(project=study.project, study=study, what=What.REWARDS_NOTED, by=by, now=now, payments=len(found))
    return len(found)

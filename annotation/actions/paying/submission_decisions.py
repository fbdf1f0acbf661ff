"""What an owner decides about a submission without paying it: ask for its return, reject it, or undo that."""

from datetime import datetime

from django.db import transaction

from annotation.actions.paying.order_payments import VOID, CannotPay
from annotation.actions.paying.payment_decisions import SECONDS
from annotation.actions.paying.submission_ids import submission_id, without_ids
from annotation.actions.recruiting.prolific_account import connect_project
from annotation.models import Payment, Submission
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.statuses import RejectionCategory, SubmissionStatus
from studies.actions.events import Actor, What, record

# What Prolific's own form offers.
RETURN_REASONS = (
    "Didn't finish the study",
    "Encountered technical problems",
    "Withdrew consent",
    "Other",
)


def ask_to_return(*, submission: Submission, reason: str, by: Actor, now: datetime) -> None:
    """Ask a participant to return their submission. Raises CannotPay.

    Asks Prolific: call it outside of transactions.
    """
    if reason not in RETURN_REASONS:
        raise CannotPay("Choose a reason that the participant reads.")
    _check_undecided(submission)
    client = _client(submission)
    try:
        with client.within(SECONDS):
            client.ask_to_return(submission_id(submission), reason=reason)
    except ProlificError as error:
        raise CannotPay(without_ids(error)) from error
    _note(submission, What.RETURN_REQUESTED, by, now, return_requested_at=now)


def reject(*, submission: Submission, category: str, message: str, by: Actor, now: datetime) -> None:
    """Reject a submission; `annotation.rejection_rules` says beforehand whether that is allowed. Raises CannotPay.

    Asks Prolific: call it outside of transactions. After an unclear reply the submission is read again.
    """
    _check_undecided(submission)
    client = _client(submission)
    try:
        with client.within(SECONDS):
            status = _reject(client, submission_id(submission), RejectionCategory(category), message)
    except ProlificError as error:
        raise CannotPay(without_ids(error)) from error
    _note(submission, What.SUBMISSION_REJECTED, by, now, told=category, status=status[:40], read_at=now)


def _reject(client: Client, id_: str, category: RejectionCategory, message: str) -> str:
    try:
        return client.reject_submission(id_, category=category, message=message).status
    except ProlificError as error:
        if error.is_uncertain and client.read_submission(id_).status == SubmissionStatus.REJECTED:
            return SubmissionStatus.REJECTED
        raise


def undo_rejection(*, submission: Submission, by: Actor, now: datetime) -> str:
    """Take a rejection back, so that the submission awaits review again; return its status. Raises CannotPay.

    Asks Prolific: call it outside of transactions. After an unclear reply the submission is read again.
    """
    if submission.status != SubmissionStatus.REJECTED:
        raise CannotPay(f"The submission is {submission.status} on Prolific, so there is no rejection to undo.")
    client = _client(submission)
    try:
        with client.within(SECONDS):
            status = _undo_rejection(client, submission_id(submission))
    except ProlificError as error:
        raise CannotPay(without_ids(error)) from error
    _note(submission, What.REJECTION_UNDONE, by, now, status=status[:40], read_at=now)
    return status


def _undo_rejection(client: Client, id_: str) -> str:
    try:
        return client.undo_rejection(id_).status
    except ProlificError as error:
        # A colleague may have undone it on Prolific's own page.
        if not error.is_uncertain and error.status != 400:
            raise
        status = client.read_submission(id_).status
        if status not in {SubmissionStatus.AWAITING_REVIEW, SubmissionStatus.APPROVED}:
            raise
        return status


def _client(submission: Submission) -> Client:
    try:
        return connect_project(submission.prolific_study.study.project)
    except ProlificError as error:
        raise CannotPay(error.sentence) from error


def _check_undecided(submission: Submission) -> None:
    ordered = Payment.objects.filter(session=submission.session_id).exclude(state__in=VOID)
    if submission.session_id is not None and ordered.exists():
        raise CannotPay("A payment was ordered for this session. Cancel it first, or leave the submission as it is.")
    if submission.status != SubmissionStatus.AWAITING_REVIEW:
        raise CannotPay(
            f"The submission is {submission.status} on Prolific. Only one that awaits review can be decided."
        )


@transaction.atomic
def _note(submission: Submission, what: What, by: Actor, now: datetime, *, told: str = "", **news: object) -> None:
    Submission.objects.filter(pk=submission.pk).update(**news)
    study = submission.prolific_study.study
    details = {"annotator": submission.session.annotator_id if submission.session else None, "category": told}
    record(project=study.project, study=study, what=what, by=by, now=now, **details)

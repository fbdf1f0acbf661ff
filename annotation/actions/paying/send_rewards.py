"""Approve submissions, or pay them in part. A repeated request pays nothing more.

The status on Prolific is read first, so that nothing is sent without need.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from annotation.actions.paying.order_payments import REWARDS, Reason
from annotation.actions.paying.payment_states import PASSING, SECONDS_TO_CALL, Clock, State, hold, move
from annotation.actions.paying.submission_ids import refuse_unknown, submission_ids, without_ids
from annotation.models import Payment, ProlificStudy
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.researcher_codes import part_code
from annotation.recruitment.prolific.statuses import SubmissionStatus

S = SubmissionStatus
# Reason -> the status that a submission must have, and the one that it has once it is paid.
BEFORE: Mapping[str, SubmissionStatus] = {
    Reason.REWARD: S.AWAITING_REVIEW,
    Reason.PART: S.AWAITING_REVIEW,
}
AFTER: Mapping[str, SubmissionStatus] = {
    Reason.REWARD: S.APPROVED,
    Reason.PART: S.PARTIALLY_APPROVED,
}
# A submission that is one of these stays it, or somebody on Prolific must change it.
FINAL = frozenset({S.APPROVED, S.PARTIALLY_APPROVED, S.SCREENED_OUT, S.REJECTED, S.RETURNED, S.TIMED_OUT})
# Prolific recommends at most 1,000 ids.
LARGEST_BULK = 1000
# Prolific approves in bulk after it has answered; one that takes longer was lost.
BULK_AT_MOST = timedelta(minutes=10)
BULK_LOST = "Prolific accepted this in bulk but did not do it. It is sent again alone."
BULK_REFUSED = "Prolific refused this in bulk. It is sent again alone."
NOT_YET = "The submission does not await review yet. This site tries again every minute."
NOT_LISTED = "Prolific does not list this submission."
NO_CODE = "The study on Prolific has no researcher's code for this."


def send_rewards(client: Client, prolific_study: ProlificStudy, now: Clock) -> None:
    """Send all planned rewards of a study. Raises ProlificError to try again later."""
    planned = Payment.objects.filter(prolific_study=prolific_study, reason__in=REWARDS, state=State.PLANNED)
    rows = list(planned.order_by("pk")[:LARGEST_BULK])
    alone = {row.pk for row in rows if row.reason != Reason.REWARD or row.problem in (BULK_LOST, BULK_REFUSED)}
    rows = move(rows, to=State.SENDING, now=now())
    if not rows:
        return
    with client.within(SECONDS_TO_CALL):
        try:
            known, ids = refuse_unknown(rows, now)
            statuses = read_statuses(client, prolific_study, known)
            ready = [row for row in known if not _settle(row, statuses.get(row.pk), now)]
            in_bulk = [row for row in ready if row.pk not in alone]
            if len(in_bulk) > 1:
                _approve_in_bulk(client, in_bulk, ids, now)
            for row in ready:
                if row.state == State.SENDING:
                    _ask_alone(client, prolific_study, row, ids[row.pk], now)
        except ProlificError as error:
            still = [row for row in rows if row.state == State.SENDING]
            move(still, to=State.PLANNED, now=now(), problem=without_ids(error))
            raise


def read_statuses(client: Client, prolific_study: ProlificStudy, rows: Sequence[Payment]) -> dict[int, str]:
    """Return each row (by id) that Prolific has -> the status of its submission. Raises ProlificError.

    Lists have no status for those that were paid in part, so these are read one by one.
    """
    ids = submission_ids(rows)
    listed = {one.id: one.status for one in client.list_submissions(prolific_study.remote_id)}
    statuses = {pk: str(listed[id_]) for pk, id_ in ids.items() if id_ in listed}
    for row in rows:
        if row.reason == Reason.PART and row.pk in statuses:
            statuses[row.pk] = client.read_submission(ids[row.pk]).status
    return statuses


def _settle(row: Payment, status: str | None, now: Clock) -> bool:
    """Settle a row whose submission is not as it must be before it is paid; return whether it was."""
    if status == BEFORE[row.reason]:
        return False
    if status == AFTER[row.reason]:
        move([row], to=State.PAID, now=now())
    elif status is None:
        move([row], to=State.REFUSED, now=now(), problem=NOT_LISTED)
    elif status in FINAL:
        move([row], to=State.REFUSED, now=now(), problem=impossible(status))
    else:
        move([row], to=State.PLANNED, now=now(), problem=NOT_YET)
    return True


def impossible(status: str) -> str:
    return f"The submission is {status} on Prolific, so this is not possible. Pay a bonus instead."


def _approve_in_bulk(client: Client, rows: Sequence[Payment], ids: Mapping[int, str], now: Clock) -> None:
    rows = move(rows, to=State.UNCERTAIN, now=now())
    try:
        client.approve_submissions([ids[row.pk] for row in rows])
    except ProlificError as error:
        if error.status == 400:
            # Because of one of them, perhaps.
            move(rows, to=State.PLANNED, now=now(), problem=BULK_REFUSED)
        else:
            _settle_error(rows, error, now)
    else:
        move(rows, to=State.REQUESTED, now=now())


def _ask_alone(client: Client, prolific_study: ProlificStudy, row: Payment, id_: str, now: Clock) -> None:
    code = _code(prolific_study, row)
    if code is None:
        move([row], to=State.REFUSED, now=now(), problem=NO_CODE)
        return
    if not move([row], to=State.UNCERTAIN, now=now()):
        return
    try:
        if row.reason == Reason.REWARD:
            changed = client.approve_submission(id_)
        else:
            changed = client.pay_in_part(id_, code=code[0], percent=code[1], message=row.note)
    except ProlificError as error:
        _settle_error([row], error, now)
    else:
        # Another status may be one on the way, such as PROCESSING: it is read again.
        move([row], to=State.PAID if changed.status == AFTER[row.reason] else State.REQUESTED, now=now())


def _code(prolific_study: ProlificStudy, row: Payment) -> tuple[str, int] | None:
    """Return the code and the percentage to pay a row with, None if there is none; approving needs neither."""
    if row.reason == Reason.REWARD:
        return "", 0
    return part_code(prolific_study.details, prolific_study.reward, row.amount)


def _settle_error(rows: Sequence[Payment], error: ProlificError, now: Clock) -> None:
    """Hold what may have been done, refuse what was refused. Raises `error` if it may pass."""
    if error.is_uncertain or (error.status is not None and error.status < 400):
        hold(rows, without_ids(error), now())
    elif error.status in PASSING:
        move(rows, to=State.PLANNED, now=now(), problem=without_ids(error))
        raise error
    else:
        move(rows, to=State.REFUSED, now=now(), problem=without_ids(error))


def settle_from_status(rows: Sequence[Payment], statuses: Mapping[int, str], at: datetime) -> None:
    """Settle rows that wait for Prolific by the statuses of their submissions.

    What is not done after ten minutes is asked for again: that never pays twice.
    """
    for row in rows:
        status = statuses.get(row.pk)
        if status == AFTER[row.reason]:
            move([row], to=State.PAID, now=at)
        elif status in FINAL:
            move([row], to=State.REFUSED, now=at, problem=impossible(str(status)))
        elif status == BEFORE[row.reason] and row.state_at < at - BULK_AT_MOST:
            move([row], to=State.PLANNED, now=at, problem=BULK_LOST)

"""Send bonuses in batches. Prolific pays a batch again at every call, so that each is called once, or held."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import cast

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from analytics.work.ledger import in_cents, shown_payments
from annotation.actions.paying.order_payments import BONUSES
from annotation.actions.paying.payment_states import OF_ONE_ALONE, PASSING, SECONDS_TO_CALL, Clock, State, hold, move
from annotation.actions.paying.submission_ids import refuse_unknown, without_ids
from annotation.models import Payment, ProlificAccount, ProlificStudy
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError

# Prolific recommends at most 200 lines.
LARGEST_BATCH = 200
IN_FLIGHT = "Sent to Prolific, which has not answered."
SHOWN_ALREADY = "Prolific shows a bonus of this amount that is not in the ledger. Compare with Prolific, then decide."
OTHER_SUM = "Prolific computed a different total than was ordered. Nothing was paid."
_LATER = PASSING - OF_ONE_ALONE


def send_batch(client: Client, account: ProlificAccount, now: Clock) -> list[Payment] | None:
    """Send one batch, and return its rows; None if there is none to send. Raises ProlificError to try again later."""
    rows = _claim(account, now)
    if not rows:
        return None
    # Also ends what takes longer than a claim lasts: then nobody calls.
    with client.within(SECONDS_TO_CALL):
        try:
            _send(client, rows, now)
        except ProlificError as error:
            # Before the call that pays.
            move(
                [row for row in rows if row.state == State.SENDING],
                to=State.PLANNED,
                now=now(),
                problem=without_ids(error),
            )
            raise
    return rows


@transaction.atomic
def _claim(account: ProlificAccount, now: Clock) -> list[Payment]:
    """Claim the oldest planned bonuses of one study on Prolific, at most one of a session.

    One batch of a project at a time: a wallet that is asked twice at once refuses.
    """
    ProlificAccount.objects.select_for_update(of=("self",), no_key=True).get(pk=account.pk)
    bonuses = Payment.objects.filter(study__project=account.project_id, reason__in=BONUSES)
    since = now() - timedelta(seconds=SECONDS_TO_CALL)
    called = Q(state=State.UNCERTAIN, state_at__gt=since, problem=IN_FLIGHT)
    if bonuses.filter(Q(state=State.SENDING) | called).exists():
        return []
    # Two bonuses of the same amount cannot be told apart on Prolific, so that one waits for the other.
    alike = bonuses.filter(
        session=OuterRef("session"), amount=OuterRef("amount"), state__in=(State.REQUESTED, State.UNCERTAIN)
    )
    planned = bonuses.filter(~Exists(alike), state=State.PLANNED, prolific_study__isnull=False)
    first = planned.order_by("ordered_at", "pk").first()
    if first is None:
        return []
    of_session: dict[int | None, Payment] = {}
    for row in planned.filter(prolific_study=first.prolific_study_id).order_by("ordered_at", "pk").iterator():
        if len(of_session) < LARGEST_BATCH:
            of_session.setdefault(row.session_id, row)
    return move(list(of_session.values()), to=State.SENDING, now=now())


def _send(client: Client, rows: Sequence[Payment], now: Clock) -> None:
    known, ids = refuse_unknown(rows, now)
    rows = _not_shown_yet(client, known, ids, now)
    if not rows:
        return
    prolific_study = cast(ProlificStudy, rows[0].prolific_study)
    amounts = {ids[row.pk]: row.amount for row in rows}
    try:
        bonuses = client.set_up_bonuses(prolific_study.remote_id, amounts)
    except ProlificError as error:
        _refuse(rows, ids, error, now)
        return
    if round(bonuses.amount) != sum(in_cents(row.amount) for row in rows):
        move(rows, to=State.REFUSED, now=now(), problem=OTHER_SUM, remote_id=bonuses.id)
        return
    called = _commit_call(rows, bonuses.id, now)
    if called:
        _pay(client, called, bonuses.id, now)


def _not_shown_yet(client: Client, rows: Sequence[Payment], ids: Mapping[int, str], now: Clock) -> Sequence[Payment]:
    """Return the rows that may be sent. Of those that were set up before, hold each that Prolific shows.

    One about which Prolific does not tell is refused.
    """
    fresh = []
    for row in rows:
        try:
            shown = row.remote_id and row.pk in shown_now(client, row, ids[row.pk])
        except ProlificError as error:
            if error.status not in OF_ONE_ALONE:
                raise
            move([row], to=State.REFUSED, now=now(), problem=without_ids(error))
            continue
        if shown:
            hold(move([row], to=State.UNCERTAIN, now=now()), SHOWN_ALREADY, now())
        else:
            fresh.append(row)
    return fresh


def shown_now(client: Client, row: Payment, submission: str) -> set[int]:
    """Return which payments of a row's session Prolific shows beside those that are known to be paid.

    Raises ProlificError.
    """
    shown = client.read_submission(submission).bonus_payments
    others = Payment.objects.filter(session=row.session_id, reason__in=BONUSES).exclude(pk=row.pk)
    paid = [in_cents(other.amount) for other in others.filter(state=State.PAID)]
    open_ = others.filter(state__in=(State.REQUESTED, State.UNCERTAIN)).order_by("state", "pk")
    waiting = [(other.pk, in_cents(other.amount)) for other in open_]
    return shown_payments(shown, paid=paid, waiting=[*waiting, (row.pk, in_cents(row.amount))])[0]


def _refuse(rows: Sequence[Payment], ids: Mapping[int, str], error: ProlificError, now: Clock) -> None:
    """Refuse the rows that Prolific names, or all. Raises `error` if it may pass. Nothing was paid: it was set up only.

    The others are planned again.
    """
    if error.status in _LATER or error.is_uncertain or (error.status or 0) < 300:
        raise error
    named = [row for row in rows if ids[row.pk] in str(error.body)]
    move(named or rows, to=State.REFUSED, now=now(), problem=without_ids(error))
    if named:
        move([row for row in rows if row.state == State.SENDING], to=State.PLANNED, now=now())


@transaction.atomic
def _commit_call(rows: Sequence[Payment], batch: str, now: Clock) -> Sequence[Payment]:
    """Commit that the batch is about to be paid, of all rows or none: from here on they are held."""
    called = move(rows, to=State.UNCERTAIN, now=now(), problem=IN_FLIGHT, remote_id=batch)
    if len(called) != len(rows):
        # Somebody took rows for lost: this batch is never paid.
        transaction.set_rollback(True)
        return ()
    return called


def _pay(client: Client, rows: Sequence[Payment], batch: str, now: Clock) -> None:
    try:
        client.pay_bonuses(batch)
    except ProlificError as error:
        if error.is_uncertain or (error.status is not None and error.status < 400):
            hold(rows, without_ids(error), now())
        elif error.status in _LATER:
            move(rows, to=State.PLANNED, now=now(), problem=without_ids(error))
            raise
        else:
            move(rows, to=State.REFUSED, now=now(), problem=without_ids(error))
    else:
        move(rows, to=State.REQUESTED, now=now())

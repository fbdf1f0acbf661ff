"""Ask Prolific about payments that it has not shown yet, and take back what a lost worker never sent."""

from collections import defaultdict
from datetime import datetime, timedelta

from analytics.work.ledger import in_cents, shown_payments
from annotation.actions.paying.order_payments import BONUSES, REWARDS
from annotation.actions.paying.payment_states import OF_ONE_ALONE, STALE, Clock, State, hold, move, note_problem
from annotation.actions.paying.send_bonuses import IN_FLIGHT
from annotation.actions.paying.send_rewards import read_statuses, settle_from_status
from annotation.actions.paying.submission_ids import submission_ids, without_ids
from annotation.models import Payment, ProlificStudy
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from studies.models import Project

# Prolific pays bonuses some time after it has accepted them.
SHOWN_WITHIN = timedelta(days=1)
NOT_SHOWN = "Prolific accepted this a day ago and does not show it."
LOST_WORKER = "The site stopped while this was sent. Prolific may or may not have paid it."
# After this time they are asked about every ten minutes instead of every minute.
OFTEN = timedelta(hours=1)
WAITING = (State.REQUESTED, State.UNCERTAIN)


def take_back_lost(project: Project, now: datetime) -> None:
    """Plan again what was claimed and not sent: the call that pays is only made after another commit."""
    lost = Payment.objects.filter(study__project=project, state=State.SENDING, state_at__lt=now - STALE)
    move(list(lost), to=State.PLANNED, now=now)
    silent = Payment.objects.filter(
        study__project=project, state=State.UNCERTAIN, state_at__lt=now - STALE, problem__in=("", IN_FLIGHT)
    )
    hold(list(silent), LOST_WORKER, now)


def confirm_rewards(client: Client, prolific_study: ProlificStudy, now: Clock) -> None:
    """Settle rewards that wait by the list of submissions. Raises ProlificError."""
    rows = list(Payment.objects.filter(prolific_study=prolific_study, reason__in=REWARDS, state__in=WAITING))
    if not rows:
        return
    statuses: dict[int, str] = {}
    try:
        statuses = read_statuses(client, prolific_study, rows)
    except ProlificError as error:
        if error.status not in OF_ONE_ALONE:
            raise
        note_problem([row for row in rows if row.state == State.REQUESTED], without_ids(error))
    at = now()
    settle_from_status(rows, statuses, at)
    late = [row for row in rows if row.pk not in statuses and row.state == State.REQUESTED]
    late = [row for row in late if row.state_at < at - SHOWN_WITHIN]
    hold(move(late, to=State.UNCERTAIN, now=at), NOT_SHOWN, at)


def confirm_bonuses(client: Client, project: Project, now: Clock) -> None:
    """Settle bonuses that wait by what Prolific shows of their submissions. Raises ProlificError."""
    at = now()
    rows = Payment.objects.filter(study__project=project, reason__in=BONUSES, state__in=WAITING)
    due = [row for row in rows if row.state_at > at - OFTEN or at.minute % 10 == 0]
    ids = submission_ids(due)
    sessions = {row.session_id: ids[row.pk] for row in due if row.pk in ids and row.session_id is not None}
    for session, id_ in sessions.items():
        try:
            shown = client.read_submission(id_).bonus_payments
        except ProlificError as error:
            if error.status not in OF_ONE_ALONE:
                raise
            continue
        settle_session(session, shown, at)
    late = rows.filter(state=State.REQUESTED, state_at__lt=at - SHOWN_WITHIN)
    hold(move(list(late), to=State.UNCERTAIN, now=at), NOT_SHOWN, at)


def settle_session(session: int, shown: tuple[int, ...], at: datetime) -> list[int]:
    """Settle the waiting bonuses of a session by what Prolific shows, in cents; return what it shows beside ours."""
    by_state: dict[str, list[Payment]] = defaultdict(list)
    for row in Payment.objects.filter(session=session, reason__in=BONUSES).order_by("pk"):
        by_state[row.state].append(row)
    # What Prolific has accepted is more likely to be shown.
    waiting = [*by_state[State.REQUESTED], *by_state[State.UNCERTAIN]]
    paid = [in_cents(row.amount) for row in by_state[State.PAID]]
    found, others = shown_payments(shown, paid=paid, waiting=[(row.pk, in_cents(row.amount)) for row in waiting])
    move([row for row in waiting if row.pk in found], to=State.PAID, now=at)
    return others

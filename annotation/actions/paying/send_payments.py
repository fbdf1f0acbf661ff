"""Send what is planned and confirm what waits, project by project."""

import logging

from annotation.actions.paying.confirm_payments import confirm_bonuses, confirm_rewards, take_back_lost
from annotation.actions.paying.order_payments import REWARDS
from annotation.actions.paying.paid_elsewhere import note_screen_outs, unrecorded
from annotation.actions.paying.payment_states import OF_ONE_ALONE, Clock, State, move, note_problem
from annotation.actions.paying.send_bonuses import send_batch
from annotation.actions.paying.send_rewards import send_rewards
from annotation.actions.paying.submission_ids import without_ids
from annotation.actions.recruiting.prolific_account import NOT_CONNECTED, connect
from annotation.models import Payment, ProlificAccount, ProlificStudy, Submission
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.statuses import SubmissionStatus
from studies.models import Project

logger = logging.getLogger(__name__)
UNSETTLED = (State.PLANNED, State.SENDING, State.REQUESTED, State.UNCERTAIN)
# A worker sends so many batches at most, and leaves the rest to the next minute.
MOST_BATCHES = 50
_ATTEMPTS = 5


def projects_to_pay() -> list[int]:
    """Return the projects with payments to send or to confirm, or that paid for screening people out."""
    found = Payment.objects.filter(state__in=UNSETTLED).order_by()
    screened_out = unrecorded(Submission.objects.filter(status=SubmissionStatus.SCREENED_OUT))
    return sorted(
        {
            *found.values_list("study__project", flat=True),
            *screened_out.values_list("prolific_study__study__project", flat=True),
        }
    )


def send_project(*, project: Project, now: Clock) -> None:
    """Send and confirm the payments of a project. A repeat, or two workers at once, pay nothing twice."""
    take_back_lost(project, now())
    note_screen_outs(Submission.objects.filter(prolific_study__study__project=project), now())
    account = ProlificAccount.objects.filter(project=project).first()
    if account is None:
        note_problem(_planned(project), NOT_CONNECTED)
        return
    try:
        client = connect(account, attempts=_ATTEMPTS)
        _confirm(client, project, now)
        _refuse_other_currency(client, account, now)
        _send(client, account, now)
        _confirm(client, project, now)
    except ProlificError as error:
        # It passes: what is planned stays planned, and the next minute tries again.
        logger.info("payments of project %s wait: status %s", project.pk, error.status)
        note_problem(_planned(project), without_ids(error))


def _planned(project: Project) -> list[Payment]:
    return list(Payment.objects.filter(study__project=project, state=State.PLANNED))


def _send(client: Client, account: ProlificAccount, now: Clock) -> None:
    planned = Payment.objects.filter(study__project=account.project_id, state=State.PLANNED, reason__in=REWARDS)
    for prolific_study in ProlificStudy.objects.filter(payments__in=planned).distinct().order_by("pk"):
        try:
            send_rewards(client, prolific_study, now)
        except ProlificError as error:
            # Its payments say why they wait.
            if error.status not in OF_ONE_ALONE:
                raise
    for _ in range(MOST_BATCHES):
        if send_batch(client, account, now) is None:
            return


def _confirm(client: Client, project: Project, now: Clock) -> None:
    waiting = Payment.objects.filter(
        study__project=project, state__in=(State.REQUESTED, State.UNCERTAIN), reason__in=REWARDS
    )
    for prolific_study in ProlificStudy.objects.filter(payments__in=waiting).distinct().order_by("pk"):
        confirm_rewards(client, prolific_study, now)
    confirm_bonuses(client, project, now)


def _refuse_other_currency(client: Client, account: ProlificAccount, now: Clock) -> None:
    """Refuse payments in another currency than the account has now. Raises ProlificError."""
    planned = _planned(account.project)
    if not planned:
        return
    if account.workspace_id:
        currency = client.read_balance(account.workspace_id).currency_code
    else:
        currency = client.read_user().currency_code
    wrong = [row for row in planned if currency and row.currency != currency]
    for row in move(wrong, to=State.SENDING, now=now()):
        sentence = (
            f"The Prolific account pays in {currency}, but this payment is in {row.currency}. "
            f"Save the token of an account that pays in {row.currency}, or pay on Prolific."
        )
        move([row], to=State.REFUSED, now=now(), problem=sentence)

"""The account at Prolific that a project recruits with: try a token, save it, and connect with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from annotation.models import Payment, ProlificAccount, ProlificStudy
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import Connection, ProlificError
from annotation.recruitment.prolific.statuses import StudyStatus
from background.sealed_secrets import CannotUnseal, seal, unseal
from studies.actions.events import Actor, What, person, record
from studies.models import Project
from studies.wording import format_count

# Somebody waits for the page meanwhile: for one response, and for all of them.
SECONDS, SECONDS_IN_ALL = 10, 30
# In seconds: differences that may be the network's, and the longest that is stored.
_SAME, _LONGEST_AHEAD = 5, 1_000_000_000
NOT_CONNECTED = "The project has no Prolific API token. An owner can save one under Settings, Prolific."
# Of a workspace that has just been chosen.
NO_WEBHOOKS: Mapping[str, Any] = {"sealed_webhook_key": "", "webhooks_confirmed_at": None}


@dataclass(frozen=True)
class Wallet:
    """A workspace with its available balance, in cents of `currency`."""

    title: str
    currency: str
    available: int
    id: str = ""

    @property
    def balance(self) -> Decimal:
        """In whole units."""
        return Decimal(self.available) / 100


@dataclass(frozen=True)
class Owner:
    """Whose token it is, and what they may spend."""

    user_id: str
    name: str
    wallets: tuple[Wallet, ...]


def connect(account: ProlificAccount, *, seconds: float = SECONDS, attempts: int = 1) -> Client:
    """Return a client with the token of an account. Raises ProlificError.

    seconds: of each response. attempts: of each read, with pauses, where nobody waits for a page.
    """
    try:
        return _client(unseal(account.sealed_token), seconds=seconds, attempts=attempts)
    except CannotUnseal as error:
        raise ProlificError(
            "The token was encrypted under a key that this site no longer has. Save the token again.",
            status=None,
            body=None,
        ) from error


def try_token(token: str) -> Owner:
    """Ask Prolific whose token it is. Raises ProlificError. Takes seconds: call it outside of transactions."""
    return find_owner(_client(token))


def find_owner(client: Client) -> Owner:
    """Ask Prolific who a client is and what they may spend. Raises ProlificError."""
    wallets = []
    with client.within(SECONDS_IN_ALL):
        user = client.read_user()
        for workspace in client.list_workspaces():
            balance = client.read_balance(workspace.id)
            wallets.append(Wallet(workspace.title, balance.currency_code, balance.available_balance, workspace.id))
    return Owner(user.id[:100], user.name[:200], tuple(wallets))


def note_clock(*, project: Project, client: Client) -> None:
    """Note how far Prolific's clock is ahead of this site's, as the last response to a client said."""
    if client.clock_ahead is None:
        return
    seconds = max(-_LONGEST_AHEAD, min(round(client.clock_ahead), _LONGEST_AHEAD))
    about_same = Q(clock_ahead__range=(seconds - _SAME, seconds + _SAME))
    ProlificAccount.objects.filter(project=project).exclude(about_same).update(clock_ahead=seconds)


def clocks(account: ProlificAccount, *, now: datetime) -> tuple[datetime, datetime]:
    """Return the time of this site, and Prolific's."""
    return now, now + timedelta(seconds=account.clock_ahead)


def clock_difference(account: ProlificAccount) -> str:
    """Return in a sentence that the clocks of this site and of Prolific differ; "" if they hardly do."""
    minutes = round(abs(account.clock_ahead) / 60)
    if not minutes:
        return ""
    way = "behind" if account.clock_ahead > 0 else "ahead of"
    return (
        f"The clock of this site is {format_count(minutes, 'minute')} {way} Prolific’s. Lineup allows for the "
        "difference: webhooks and signed links still work, and studies are read every 30 seconds. Ask whoever runs the "
        "site to correct its clock."
    )


def connect_project(project: Project, *, attempts: int = 1) -> Client:
    """Return a client with the token of a project, as `connect` does. Raises ProlificError."""
    account = ProlificAccount.objects.filter(project=project).first()
    if account is None:
        raise ProlificError(NOT_CONNECTED, status=None, body=None)
    return connect(account, attempts=attempts)


def _client(token: str, *, seconds: float = SECONDS, attempts: int = 1) -> Client:
    return Client(Connection(token, address=settings.PROLIFIC_ADDRESS, seconds=seconds, attempts=attempts))


@transaction.atomic
def save_account(*, project: Project, token: str, owner: Owner, by: Actor, now: datetime) -> ProlificAccount:
    """Save a token that was tried, in the place of an earlier one, and its workspace if there is only one."""
    known = ProlificAccount.objects.filter(project=project).first()
    same = tuple(wallet for wallet in owner.wallets if known and wallet.id == known.workspace_id)
    fitting = same or owner.wallets
    wallet = fitting[0] if len(fitting) == 1 else None
    account, _ = ProlificAccount.objects.update_or_create(
        project=project,
        defaults={
            "sealed_token": seal(token),
            "user_id": owner.user_id,
            "user_name": owner.name,
            "workspace_id": wallet.id[:100] if wallet else "",
            "workspace_title": wallet.title[:200] if wallet else "",
            "saved_by": person(by),
            "saved_at": now,
            **({} if same else NO_WEBHOOKS),
        },
    )
    record(project=project, what=What.PROLIFIC_ACCOUNT_CONNECTED, by=by, now=now)
    return account


@transaction.atomic
def choose_workspace(*, account: ProlificAccount, workspace: str, title: str, by: Actor, now: datetime) -> None:
    """Choose the workspace that pays; the same again changes nothing."""
    chosen = ProlificAccount.objects.filter(pk=account.pk).exclude(workspace_id=workspace)
    if chosen.update(workspace_id=workspace, workspace_title=title[:200], **NO_WEBHOOKS):
        record(project=account.project, what=What.PROLIFIC_WORKSPACE_CHOSEN, by=by, now=now, workspace=title[:200])


def left_behind(project: Project) -> str:
    """Return in a sentence what stays with the workspace that has paid so far; "" if nothing does.

    Prolific lets each study be paid by its own workspace only, so nothing is paid from another one.
    """
    there = ProlificStudy.objects.filter(study__project=project).exclude(remote_id="")
    running = there.exclude(status=StudyStatus.COMPLETED).count()
    unsettled = Payment.objects.filter(study__project=project).exclude(state__in=Payment.SETTLED).count()
    if not running and not unsettled:
        return ""
    studies_there = "1 study" if running == 1 else f"{running:,} studies"
    return (
        f"{studies_there} on Prolific and {format_count(unsettled, 'payment')} stay with the workspace that paid "
        "until now. Where this token cannot reach it, they wait, and their pages say so. To let them go on, save a "
        "token that can."
    )


@transaction.atomic
def remove_account(*, account: ProlificAccount, by: Actor, now: datetime) -> None:
    """Delete the token of a project. On Prolific it stays valid until it is deleted there."""
    record(project=account.project, what=What.PROLIFIC_ACCOUNT_REMOVED, by=by, now=now)
    account.delete()

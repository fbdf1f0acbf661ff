"""The account at Prolific that a project recruits with: try a token, save it, and connect with it."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction

from annotation.models import ProlificAccount
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import Connection, ProlificError
from background.sealed_secrets import CannotUnseal, seal, seal_again, unseal
from studies.actions.events import Actor, What, person, record
from studies.models import Project

# Somebody waits for the page meanwhile: for one response, and for all of them.
SECONDS, SECONDS_IN_ALL = 10, 30


@dataclass(frozen=True)
class Wallet:
    """A workspace with its available balance, in cents of `currency`."""

    title: str
    currency: str
    available: int


@dataclass(frozen=True)
class Owner:
    """Whose token it is, and what they may spend."""

    user_id: str
    name: str
    wallets: tuple[Wallet, ...]


def connect(account: ProlificAccount, *, attempts: int = 1) -> Client:
    """Return a client with the token of an account. attempts: of each read. Raises ProlificError."""
    try:
        return _client(unseal(account.sealed_token), attempts=attempts)
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
            wallets.append(Wallet(workspace.title, balance.currency_code, balance.available_balance))
    return Owner(user.id[:100], user.name[:200], tuple(wallets))


def _client(token: str, *, attempts: int = 1) -> Client:
    return Client(Connection(token, address=settings.PROLIFIC_ADDRESS, seconds=SECONDS, attempts=attempts))


@transaction.atomic
def save_account(*, project: Project, token: str, owner: Owner, by: Actor, now: datetime) -> ProlificAccount:
    """Save a token that was tried, in the place of an earlier one."""
    account, _ = ProlificAccount.objects.update_or_create(
        project=project,
        defaults={
            "sealed_token": seal(token),
            "user_id": owner.user_id,
            "user_name": owner.name,
            "saved_by": person(by),
            "saved_at": now,
        },
    )
    record(project=project, what=What.PROLIFIC_ACCOUNT_CONNECTED, by=by, now=now)
    return account


@transaction.atomic
def remove_account(*, account: ProlificAccount, by: Actor, now: datetime) -> None:
    """Delete the token of a project. On Prolific it stays valid until it is deleted there."""
    record(project=account.project, what=What.PROLIFIC_ACCOUNT_REMOVED, by=by, now=now)
    account.delete()


def seal_tokens_again() -> tuple[int, int]:
    """Encrypt all tokens under the newest key; return how many were, and how many no key of the site opens."""
    sealed = lost = 0
    for account in ProlificAccount.objects.order_by("pk"):
        try:
            again = seal_again(account.sealed_token)
        except CannotUnseal:
            lost += 1
        else:
            # A token that was replaced meanwhile is under the newest key already.
            unchanged = ProlificAccount.objects.filter(pk=account.pk, sealed_token=account.sealed_token)
            sealed += unchanged.update(sealed_token=again)
    return sealed, lost

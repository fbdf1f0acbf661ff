"""Subscribe to Prolific's webhooks, and receive them (prolific.md, section 4.9).

A webhook only makes a study due to be read; its content is not trusted. A lost one costs a minute.
"""

import logging
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.urls import reverse

from annotation.actions.recruiting import submissions
from annotation.actions.recruiting.prolific_account import connect, note_clock
from annotation.models import ProlificAccount, ProlificStudy, ReceivedWebhook, Submission
from annotation.recruitment.base import normalize_id
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.statuses import EventType
from annotation.recruitment.prolific.webhooks import Event
from background.sealed_secrets import CannotUnseal, keyed_digest, keyed_digests, seal, unseal
from studies.actions.events import Actor, What, record
from throttle.counters import hit

logger = logging.getLogger(__name__)

KEPT = timedelta(days=30)
# Somebody may have deleted the subscription on Prolific.
CHECK_EVERY = timedelta(hours=6)
# One worker at a time: a second key would make the first one useless.
ONE_TRY_EVERY = timedelta(seconds=45)
LONGEST_ID = 100
SECONDS = 30
_HERE = {"127.0.0.1", "localhost"}
_PURPOSE = "address of webhooks"


def address_of(account: ProlificAccount) -> str:
    """Return the address to which Prolific sends webhooks of an account, which nobody can guess."""
    return f"{settings.SITE_URL}{reverse('prolific_webhook', args=[_token(account)])}"


def _token(account: ProlificAccount) -> str:
    return f"{account.pk}-{keyed_digest(str(account.pk), purpose=_PURPOSE)[:32]}"


def account_at(token: str) -> ProlificAccount | None:
    """Return the account whose address has this token."""
    number, _, digest = token.partition("-")
    known = [whole[:32] for whole in keyed_digests(number, purpose=_PURPOSE)]
    if not number.isdecimal() or len(number) > 18 or digest not in known:
        return None
    return ProlificAccount.objects.filter(pk=int(number)).first()


def key_of(account: ProlificAccount) -> str:
    """Return the key that signs the webhooks of an account, "" if there is none."""
    try:
        return unseal(account.sealed_webhook_key) if account.sealed_webhook_key else ""
    except CannotUnseal:
        return ""


# Subscribe


def obstacle(account: ProlificAccount) -> str:
    """Return why no webhooks can be sent here, in a sentence; "" if they can."""
    if not account.workspace_id:
        return "Choose a workspace first."
    is_local = urlsplit(settings.PROLIFIC_ADDRESS).hostname in _HERE
    here = urlsplit(settings.SITE_URL)
    if is_local or (here.scheme == "https" and here.hostname not in _HERE):
        return ""
    return "Prolific sends webhooks only to a public https address. Set SITE_URL to the address of this site."


def accounts_to_connect(*, now: datetime) -> list[int]:
    """Return the accounts whose webhooks are not confirmed, or were not checked for a while."""
    stale = Q(webhooks_confirmed_at=None) | Q(webhooks_confirmed_at__lte=now - CHECK_EVERY)
    found = ProlificAccount.objects.filter(stale).exclude(workspace_id="").order_by("pk")
    return [account.pk for account in found if not obstacle(account)]


def subscribe_account(*, account: ProlificAccount, now: datetime, renews_key: bool = False) -> None:
    """Subscribe to what is missing, and confirm it. Twice equals once. Raises ProlificError, and takes seconds.

    renews_key: have a new key made, because something else may have replaced it on Prolific.
    """
    if problem := obstacle(account):
        raise ProlificError(problem, status=None, body=None)
    if not hit(scope="prolific webhooks", key=account.workspace_id, limit=1, window=ONE_TRY_EVERY, now=now).allowed:
        raise ProlificError("This was tried a moment ago. Try again in a minute.", status=None, body=None)
    client = connect(account)
    if renews_key:
        _discard_key(account)
    with client.within(SECONDS):
        _take_key(account, client)
        _subscribe(account, client)
    note_clock(project=account.project, client=client)


def _take_key(account: ProlificAccount, client: Client) -> None:
    """Create the key that signs webhooks, or share it: a workspace has one for all of its projects."""
    if key_of(account):
        return
    same = ProlificAccount.objects.filter(workspace_id=account.workspace_id)
    shared = next((each for each in same.exclude(pk=account.pk) if key_of(each)), None)
    sealed = shared.sealed_webhook_key if shared else seal(client.create_secret(account.workspace_id).value)
    same.filter(pk__in=[account.pk, *(each.pk for each in same if not key_of(each))]).update(sealed_webhook_key=sealed)


def _discard_key(account: ProlificAccount) -> None:
    same = ProlificAccount.objects.filter(workspace_id=account.workspace_id)
    same.update(sealed_webhook_key="", webhooks_confirmed_at=None)
    account.refresh_from_db()


def _subscribe(account: ProlificAccount, client: Client) -> None:
    workspace, address = account.workspace_id, address_of(account)
    listed = client.list_subscriptions(workspace)
    confirmed = {one.event_type for one in listed if one.is_enabled and one.target_url == address}
    for event_type in EventType:
        if event_type in confirmed:
            continue
        made, secret = client.subscribe(workspace, event_type=event_type, target_url=address)
        if not client.confirm_subscription(made.id, secret=secret).is_enabled:
            raise ProlificError("Prolific has not confirmed the subscription. Try again.", status=None, body=None)


@transaction.atomic
def note_confirmed(*, account: ProlificAccount, by: Actor, now: datetime) -> None:
    """Note that Prolific has confirmed the webhooks of an account, unless it has another workspace by now."""
    is_news = account.webhooks_confirmed_at is None
    same = ProlificAccount.objects.filter(pk=account.pk, workspace_id=account.workspace_id)
    if same.update(webhooks_confirmed_at=now) and is_news:
        record(project=account.project, what=What.PROLIFIC_WEBHOOKS_CONFIRMED, by=by, now=now)


# Receive


def receive(*, account: ProlificAccount, event: Event, event_id: str, now: datetime) -> list[int]:
    """Make due what a verified webhook is about, and return the studies to read; none if it came before."""
    try:
        with transaction.atomic():
            ReceivedWebhook.objects.create(
                account=account, event_id=event_id, event_type=event.event_type[:LONGEST_ID], received_at=now
            )
            studies = _studies_of(account, event)
            submissions.mark_due(studies=studies, now=now)
            return studies
    except IntegrityError:
        return []


def _studies_of(account: ProlificAccount, event: Event) -> list[int]:
    own = ProlificStudy.objects.filter(study__project=account.project_id)
    if event.event_type == EventType.SUBMISSION_STATUS:
        digests = keyed_digests(normalize_id(event.resource_id), purpose=submissions.PURPOSE)
        found = own.filter(pk__in=Submission.objects.filter(id_digest__in=digests).values("prolific_study"))
    else:
        found = own.filter(remote_id=event.resource_id)
    # An unknown submission is new in one of the studies that are open.
    return list(found.values_list("pk", flat=True)) or list(submissions.followed(own).values_list("pk", flat=True))


def forget_old(*, now: datetime) -> None:
    """Delete webhooks that Prolific no longer repeats."""
    ReceivedWebhook.objects.filter(received_at__lt=now - KEPT).delete()

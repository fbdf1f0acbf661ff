"""What Prolific offers for a study, and what it would cost: read for the form, and kept briefly."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.core.cache import cache

from analytics.work.ledger import from_cents, in_cents
from annotation.actions.recruiting.prolific_account import connect
from annotation.actions.recruiting.prolific_draft import Draft, ScreenOut
from annotation.models import ProlificAccount
from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.client import Client

# Somebody waits for the page meanwhile.
SECONDS_IN_ALL = 12
# Filters change seldom; a group may have been made a moment ago on Prolific.
FILTERS_KEPT, GROUPS_KEPT = 600, 20
# Filters by lists, which the form has in another place or not at all: studies and people are kept out by our groups.
_LISTS = frozenset(
    {"participant_group_allowlist", "participant_group_blocklist", "custom_allowlist", "custom_blocklist"}
    | {"previous_studies_allowlist", "previous_studies_blocklist"}
)


@dataclass(frozen=True)
class Choices:
    """Filters and groups that can be chosen, the account's currency and available balance, in whole units."""

    filters: tuple[bodies.Filter, ...]
    groups: tuple[bodies.Group, ...]
    currency: str
    available: Decimal


@dataclass(frozen=True)
class Quote:
    """What Prolific says of a study before it exists. Amounts in whole units, `total` with fee and taxes.

    screen_outs: what `total` has for people who are screened out, with fee and taxes, if all their places are used.
    """

    total: Decimal
    rewards: Decimal
    available: Decimal
    currency: str
    eligible: int
    screen_outs: Decimal = Decimal(0)

    @property
    def fees(self) -> Decimal:
        return self.total - self.rewards - self.screen_outs

    @property
    def is_too_much(self) -> bool:
        return self.total > self.available


def read_choices(account: ProlificAccount) -> Choices:
    """Return what the form offers. Raises ProlificError."""
    client, workspace = connect(account), account.workspace_id
    with client.within(SECONDS_IN_ALL):
        filters = _kept(account, "filters", FILTERS_KEPT, lambda: client.list_filters(workspace))
        groups = _kept(account, "groups", GROUPS_KEPT, lambda: client.list_groups(workspace))
        balance = client.read_balance(workspace)
    return Choices(
        filters=tuple(one for one in filters if one.filter_id not in _LISTS),
        groups=tuple(one for one in groups if not one.is_deleted and not one.name.startswith("Lineup ")),
        currency=balance.currency_code,
        available=Decimal(balance.available_balance) / 100,
    )


def read_quote(account: ProlificAccount, draft: Draft) -> Quote:
    """Ask what a study would cost, and how many people fit its filters. Raises ProlificError."""
    client: Client = connect(account)
    reward, places, filters = in_cents(draft.reward), draft.places, draft.filters
    with client.within(SECONDS_IN_ALL):
        total = client.calculate_cost(reward=reward, places=places)
        screen_outs = read_screen_out_cost(client, draft.screen_out)
        balance = client.read_balance(account.workspace_id)
        eligible = client.count_eligible(account.workspace_id, filters)
    return Quote(
        total=from_cents(total) + screen_outs,
        rewards=from_cents(reward * places),
        available=Decimal(balance.available_balance) / 100,
        currency=balance.currency_code,
        eligible=eligible,
        screen_outs=screen_outs,
    )


def read_screen_out_cost(client: Client, screen_out: ScreenOut | None) -> Decimal:
    """Return what screening people out costs at most, with fee and taxes, as Prolific says. Raises ProlificError."""
    if screen_out is None:
        return Decimal(0)
    return from_cents(client.calculate_cost(reward=in_cents(screen_out.reward), places=screen_out.places))


def _kept(account: ProlificAccount, what: str, seconds: int, read: Callable[[], list[Any]]) -> list[Any]:
    whose = f"{settings.PROLIFIC_ADDRESS} {account.workspace_id} {account.sealed_token}"
    key = f"prolific-{what}-{sha256(whose.encode()).hexdigest()}"
    found: list[Any] | None = cache.get(key)
    if found is None:
        found = read()
        cache.set(key, found, seconds)
    return found

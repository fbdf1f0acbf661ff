"""Slow down password guessing without letting strangers lock anybody out (docs/decisions/0012)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from throttle.counters import Verdict, hit, reset, take_back

WINDOW = timedelta(minutes=15)
# Per name and network; and per name and browser that has signed in under that name before.
MOST_HERE = 10
# Per network, any name: an office may share one.
MOST_FROM_NETWORK = 50
# Per name, over all networks; above it each network still gets a few attempts, so that the owner gets in.
MOST_EVERYWHERE = 50
FEW = 2
# Password reset mails: so that no mailbox is flooded and nobody tries a list of addresses.
MAIL_WINDOW = timedelta(hours=1)
MAILS_TO_NETWORK = 20
MAILS_TO_ADDRESS = 3


@dataclass(frozen=True)
class Attempt:
    """`name` as Django looks it up; `device` is empty for a browser that never signed in under this name."""

    name: str
    network: str
    device: str

    @property
    def here(self) -> str:
        return f"{self.network} {self.name}"

    @property
    def with_device(self) -> str:
        return f"{self.device} {self.name}"


def begin(attempt: Attempt, *, now: datetime) -> Verdict:
    """Count an attempt before the password is checked; return whether it is allowed."""
    if attempt.device:
        return _hit("device", attempt.with_device, MOST_HERE, now)
    # The network first: once it is over its limit, invented names create no more rows.
    by_network = _hit("network", attempt.network, MOST_FROM_NETWORK, now)
    if not by_network.allowed:
        return by_network
    here = _hit("name and network", attempt.here, MOST_HERE, now)
    if not here.allowed:
        return here
    everywhere = _hit("name", attempt.name, MOST_EVERYWHERE, now)
    return everywhere if here.hits > FEW else here


def begin_single_sign_on(network: str, *, now: datetime) -> Verdict:
    """Count a redirect to the identity provider among the attempts of its network."""
    return _hit("network", network, MOST_FROM_NETWORK, now)


def succeed_single_sign_on(network: str) -> None:
    """Take back the count of a sign-in through the identity provider that succeeded."""
    take_back(scope=_scope("network"), key=network)


def may_send_reset_mail(network: str, mail: str, *, now: datetime) -> Verdict:
    """Count a request for a password reset mail; return whether it is allowed."""
    by_network = hit(scope="mail by network", key=network, limit=MAILS_TO_NETWORK, window=MAIL_WINDOW, now=now)
    if not by_network.allowed:
        return by_network
    return hit(scope="mail by address", key=mail.casefold(), limit=MAILS_TO_ADDRESS, window=MAIL_WINDOW, now=now)


def may_send_panel_link(network: str, mail: str, *, now: datetime) -> Verdict:
    """Count a request for a link to the page of a panel; return whether it is allowed."""
    by_network = hit(scope="panel by network", key=network, limit=MAILS_TO_NETWORK, window=MAIL_WINDOW, now=now)
    if not by_network.allowed:
        return by_network
    return hit(scope="panel by address", key=mail, limit=MAILS_TO_ADDRESS, window=MAIL_WINDOW, now=now)


def succeed(attempt: Attempt) -> None:
    """Forget the earlier failures of this origin, and take back this attempt: the password was right."""
    if attempt.device:
        reset(scope=_scope("device"), key=attempt.with_device)
        return
    take_back(scope=_scope("network"), key=attempt.network)
    take_back(scope=_scope("name"), key=attempt.name)
    reset(scope=_scope("name and network"), key=attempt.here)


def _hit(by: str, key: str, limit: int, now: datetime) -> Verdict:
    return hit(scope=_scope(by), key=key, limit=limit, window=WINDOW, now=now)


def _scope(by: str) -> str:
    return f"sign in by {by}"

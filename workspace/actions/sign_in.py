"""Slows down who guesses passwords, and locks nobody out for what strangers do (docs/decisions/0012)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from throttle.counters import Verdict, forget, give_back, hit

WINDOW = timedelta(minutes=15)
# Under one name from one network; and under one name in a browser that has signed in under it before.
MOST_HERE = 10
# Under any names from one network: an office may share one.
MOST_FROM_NETWORK = 50
# Under one name from all networks together; beyond it every network still has a few, so that its owner gets in.
MOST_EVERYWHERE = 50
FEW = 2
# Mails with a link to a new password: nobody's mailbox is filled, and nobody tries a list of addresses.
MAIL_WINDOW = timedelta(hours=1)
MAILS_TO_NETWORK = 20
MAILS_TO_ADDRESS = 3


@dataclass(frozen=True)
class Attempt:
    """`name` as Django looks it up, `device` empty for a browser that never signed in under this name."""

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
    """Count an attempt before its password is looked at, and say whether it may be."""
    if attempt.device:
        return _hit("device", attempt.with_device, MOST_HERE, now)
    # The network first: an invented name leaves no row behind once its network has had enough.
    by_network = _hit("network", attempt.network, MOST_FROM_NETWORK, now)
    if not by_network.allowed:
        return by_network
    here = _hit("name and network", attempt.here, MOST_HERE, now)
    if not here.allowed:
        return here
    everywhere = _hit("name", attempt.name, MOST_EVERYWHERE, now)
    return everywhere if here.hits > FEW else here


def begin_elsewhere(network: str, *, now: datetime) -> Verdict:
    """Count that somebody goes to sign in with an account elsewhere, among the attempts of their network."""
    return _hit("network", network, MOST_FROM_NETWORK, now)


def succeed_elsewhere(network: str) -> None:
    """They came back as somebody: it counts for none."""
    give_back(scope=_scope("network"), key=network)


def may_ask_for_mail(network: str, mail: str, *, now: datetime) -> Verdict:
    """Count that somebody asks for a link to a new password, and say whether they get it."""
    by_network = hit(scope="mail by network", key=network, limit=MAILS_TO_NETWORK, window=MAIL_WINDOW, now=now)
    if not by_network.allowed:
        return by_network
    return hit(scope="mail by address", key=mail.casefold(), limit=MAILS_TO_ADDRESS, window=MAIL_WINDOW, now=now)


def succeed(attempt: Attempt) -> None:
    """The password was right: the failures before it are forgotten where it came from, and it counts for none."""
    if attempt.device:
        forget(scope=_scope("device"), key=attempt.with_device)
        return
    give_back(scope=_scope("network"), key=attempt.network)
    give_back(scope=_scope("name"), key=attempt.name)
    forget(scope=_scope("name and network"), key=attempt.here)


def _hit(by: str, key: str, limit: int, now: datetime) -> Verdict:
    return hit(scope=_scope(by), key=key, limit=limit, window=WINDOW, now=now)


def _scope(by: str) -> str:
    return f"sign in by {by}"

"""The keys with which Prolific signs links, kept in memory and read again when they change."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from annotation.recruitment.prolific import signed_links
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.signed_links import ForgedLink, Key, Link, UnknownKey

KEPT = timedelta(days=1)
# So that made-up names of keys do not send a request to Prolific each time.
AT_MOST_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class _Kept:
    keys: list[Key]
    read_at: datetime


# Of this process, by the address of the platform.
kept_keys: dict[str, _Kept] = {}


def is_signed(token: str, *, client: Client, link: Link, now: datetime) -> bool:
    """Do `signed_links.verify` with Prolific's keys; False if they were just read and this one is not among them.

    Raises ExpiredLink or ForgedLink, and ProlificError if the keys cannot be read.
    """
    kept, is_fresh = kept_keys.get(settings.PROLIFIC_ADDRESS), False
    if kept is None or now - kept.read_at > KEPT:
        kept, is_fresh = _read(client, now), True
    try:
        signed_links.verify(token, keys=kept.keys, link=link, now=now)
    except UnknownKey:
        if not is_fresh and now - kept.read_at < AT_MOST_EVERY:
            return False
        keys = kept.keys if is_fresh else _read(client, now).keys
        try:
            signed_links.verify(token, keys=keys, link=link, now=now)
        except UnknownKey:
            raise ForgedLink("The token names an unknown key.") from None
    return True


def _read(client: Client, now: datetime) -> _Kept:
    kept = kept_keys[settings.PROLIFIC_ADDRESS] = _Kept([*client.read_keys()], now)
    return kept

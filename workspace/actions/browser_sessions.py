"""Signed-in browsers of an account: record, list and sign out."""

from datetime import datetime

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.crypto import constant_time_compare

from workspace.models import BrowserSession


def record_browser(*, user_id: int, session_key: str, browser: str, now: datetime) -> None:
    """Record that a session was used now; create the record if it is new."""
    if not BrowserSession.objects.filter(session_key=session_key, user=user_id).update(seen_at=now):
        told = {"user_id": user_id, "browser": browser, "began_at": now, "seen_at": now}
        BrowserSession.objects.update_or_create(session_key=session_key, defaults=told)


def replace_session_key(*, before: str, after: str) -> None:
    """Move the record of a session to its new session key."""
    BrowserSession.objects.filter(session_key=before).update(session_key=after)


def open_sessions(*, user: User, now: datetime) -> list[BrowserSession]:
    """Return the sessions that are still signed in as `user`, last seen first.

    Leaves out expired sessions and those ended by a password change.
    """
    known = list(BrowserSession.objects.filter(user=user))
    found = Session.objects.filter(session_key__in=[each.session_key for each in known], expire_date__gt=now)
    alive = {each.session_key for each in found if _opens(each, user)}
    return [each for each in known if each.session_key in alive]


def _opens(session: Session, user: User) -> bool:
    told = session.get_decoded()
    is_theirs = told.get(SESSION_KEY) == str(user.pk)
    return is_theirs and constant_time_compare(told.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())


@transaction.atomic
def end_session(*, session: BrowserSession) -> None:
    """Sign out a browser."""
    Session.objects.filter(session_key=session.session_key).delete()
    session.delete()


@transaction.atomic
def end_sessions(*, user: User, but: str = "") -> int:
    """Sign out all browsers of `user` except the session with key `but`; return how many there were."""
    others = BrowserSession.objects.filter(user=user).exclude(session_key=but)
    keys = list(others.values_list("session_key", flat=True))
    Session.objects.filter(session_key__in=keys).delete()
    others.delete()
    return len(keys)


def delete_ended(*, now: datetime) -> None:
    """Delete expired sessions, and records of sessions that no longer exist."""
    Session.objects.filter(expire_date__lt=now).delete()
    there = Session.objects.filter(session_key=OuterRef("session_key"))
    BrowserSession.objects.filter(~Exists(there)).delete()

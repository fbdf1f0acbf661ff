"""The browsers that somebody is signed in with: noted, looked over, and signed out."""

from datetime import datetime

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.crypto import constant_time_compare

from workspace.models import BrowserSession


def note_browser(*, user_id: int, session_key: str, browser: str, now: datetime) -> None:
    """Note that a session is used now; of one that is not known, that it begins."""
    if not BrowserSession.objects.filter(session_key=session_key, user=user_id).update(seen_at=now):
        told = {"user_id": user_id, "browser": browser, "began_at": now, "seen_at": now}
        BrowserSession.objects.update_or_create(session_key=session_key, defaults=told)


def note_new_key(*, before: str, after: str) -> None:
    """Go on under another key with a session that was given one."""
    BrowserSession.objects.filter(session_key=before).update(session_key=after)


def open_sessions(*, user: User, now: datetime) -> list[BrowserSession]:
    """Return the sessions that still open `user`'s pages, the one seen last first.

    Not those that have expired, or that another password has closed.
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
    """Sign a browser out."""
    Session.objects.filter(session_key=session.session_key).delete()
    session.delete()


@transaction.atomic
def end_sessions(*, user: User, but: str = "") -> int:
    """Sign out all of somebody's browsers but the one whose session has the key `but`; return how many there were."""
    others = BrowserSession.objects.filter(user=user).exclude(session_key=but)
    keys = list(others.values_list("session_key", flat=True))
    Session.objects.filter(session_key__in=keys).delete()
    others.delete()
    return len(keys)


def forget_ended(*, now: datetime) -> None:
    """Delete what is known of sessions that are over."""
    Session.objects.filter(expire_date__lt=now).delete()
    there = Session.objects.filter(session_key=OuterRef("session_key"))
    BrowserSession.objects.filter(~Exists(there)).delete()

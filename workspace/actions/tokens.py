"""Personal API tokens: create, show once, revoke, and find by their text.

Rows are the record: a token only changes by being revoked, and is never deleted.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q

from studies.models import Project
from studies.names import problem_with_line
from workspace.models import Scope, Token, digest_of

# Secret scanners recognise published tokens by this prefix.
PREFIX = "lineup_"
SECRET_BYTES = 32
DAYS = (7, 30, 90, 365)
LONGEST_NAME = 100
# Keeps anybody from filling the table; nobody needs more.
MOST_TOKENS = 50
# Recorded at most this often, so that reading does not write.
USE_NOTED_EVERY = timedelta(minutes=1)


class TokenRefused(Exception):
    """No token was created; the message is a sentence for the user."""


@dataclass(frozen=True)
class NewToken:
    """A token and its text, which is not stored."""

    token: Token
    text: str


def make_token(
    *,
    owner: User,
    name: str,
    scope: str,
    days: int,
    now: datetime,
    project: Project | None = None,
    secret: str | None = None,
) -> NewToken:
    """Create a token of `owner` for `project`, or for all their projects with None. Raises TokenRefused.

    secret: the hexadecimal digits of its text, random by default. A token with these is returned instead of a new one.
    """
    name = name.strip()
    if not name:
        raise TokenRefused("Write what the token is for, so that you recognise it later.")
    if len(name) > LONGEST_NAME:
        raise TokenRefused(f"The name has {len(name):,} characters; at most {LONGEST_NAME} fit.")
    if reason := problem_with_line(name):
        raise TokenRefused(f"The name cannot be used. {reason}")
    if scope not in Scope.values:
        raise TokenRefused("Choose what the token may do: read, or read and change.")
    if days not in DAYS:
        raise TokenRefused(f"A token lasts {', '.join(map(str, DAYS[:-1]))} or {DAYS[-1]} days.")
    text = PREFIX + (secret or secrets.token_hex(SECRET_BYTES))
    # Counted first: the same request may create its token at the same time.
    others = Token.objects.revocable().filter(owner=owner, expires_at__gt=now).count()
    if others >= MOST_TOKENS and not Token.objects.filter(digest=digest_of(text)).exists():
        raise TokenRefused(f"You have {MOST_TOKENS} tokens already. Revoke one that you no longer use.")
    token, _ = Token.objects.get_or_create(
        digest=digest_of(text),
        defaults={
            "owner": owner,
            "name": name,
            "ending": text[-4:],
            "scope": scope,
            "project": project,
            "made_at": now,
            "expires_at": now + timedelta(days=days),
        },
    )
    return NewToken(token, text)


def revoke_token(*, token: Token, now: datetime) -> bool:
    """Revoke a token; return whether it was valid until now."""
    return bool(Token.objects.revocable().filter(pk=token.pk).update(revoked_at=now))


def find_token(*, text: str, now: datetime) -> Token | None:
    """Return the token with this text if it is valid: not revoked, not expired, and its owner may sign in."""
    alive = Token.objects.revocable().filter(expires_at__gt=now, owner__is_active=True)
    return alive.filter(digest=digest_of(text)).select_related("owner", "project").first()


def record_use(*, token: Token, now: datetime) -> None:
    """Record the use of a token, at most once a minute."""
    if token.last_used_at is None or token.last_used_at <= now - USE_NOTED_EVERY:
        long_ago = Q(last_used_at=None) | Q(last_used_at__lte=now - USE_NOTED_EVERY)
        Token.objects.filter(long_ago, pk=token.pk).update(last_used_at=now)

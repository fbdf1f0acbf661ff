"""What people change in their own account: display name and mail address.

An address counts as confirmed once somebody has followed a link that was sent to it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.crypto import constant_time_compare, salted_hmac

from studies.names import problem_with_line
from workspace.models import ConfirmedMail

LONGEST_NAME = 150
LONGEST_MAIL = 254
LINK_FOR = timedelta(hours=24)
_SALT = "workspace.own_account.mail"
GONE = "This link is no longer valid: it was used, it is older than a day, or the account has changed since."


class AccountRefused(Exception):
    """Nothing was changed; the message is a sentence for the user."""


@dataclass(frozen=True)
class MailChange:
    """An account and its new address; `before` may be empty or the same."""

    user: User
    before: str
    mail: str


def change_name(*, user: User, name: str) -> None:
    """Change the display name, which may be empty; the username stays. Raises AccountRefused."""
    if name and (problem := problem_with_line(name)):
        raise AccountRefused(problem)
    if len(name) > LONGEST_NAME:
        raise AccountRefused(f"Write at most {LONGEST_NAME} characters.")
    user.first_name, user.last_name = name, ""
    user.save(update_fields=["first_name", "last_name"])


def check_mail(mail: str) -> None:
    """Raise AccountRefused for an address that cannot receive mail."""
    try:
        validate_email(mail)
    except ValidationError as error:
        raise AccountRefused("This is not an e-mail address. Check it.") from error
    if len(mail) > LONGEST_MAIL:
        raise AccountRefused(f"An address has at most {LONGEST_MAIL} characters.")


def change_mail(*, user: User, mail: str) -> None:
    """Set a mail address, unconfirmed. Raises AccountRefused."""
    check_mail(mail)
    user.email = mail
    user.save(update_fields=["email"])


def make_link_secret(user: User, mail: str) -> str:
    """Return the secret of the link that makes `mail` the address of the account.

    The link expires after a day, when the address of the account changes, and when its password changes.
    """
    told = {"user": user.pk, "before": user.email, "mail": mail, "password": _password_digest(user)}
    return signing.dumps(told, salt=_SALT)


def read_link(secret: str) -> MailChange:
    """Return the change that a link makes. Raises AccountRefused for an invalid or expired link."""
    try:
        told: dict[str, Any] = signing.loads(secret, salt=_SALT, max_age=LINK_FOR)
    except signing.BadSignature as error:
        raise AccountRefused(GONE) from error
    user = User.objects.filter(pk=told["user"], is_active=True, email=told["before"]).first()
    if user is None or not constant_time_compare(told["password"], _password_digest(user)):
        raise AccountRefused(GONE)
    return MailChange(user, told["before"], told["mail"])


def _password_digest(user: User) -> str:
    return salted_hmac(_SALT, user.password, algorithm="sha256").hexdigest()[:16]


@transaction.atomic
def complete_mail_change(*, secret: str, now: datetime) -> MailChange:
    """Give the account the mail address that the link was sent to, as confirmed. Raises AccountRefused."""
    change = read_link(secret)
    # Works once: after a change the account has another address than the link was made for.
    if not User.objects.filter(pk=change.user.pk, email=change.before).update(email=change.mail):
        raise AccountRefused(GONE)
    change.user.email = change.mail
    confirm_mail(user=change.user, now=now)
    return change


def confirm_mail(*, user: User, now: datetime) -> None:
    """Record that the owner of the account reads mail sent to its address."""
    if user.email:
        ConfirmedMail.objects.update_or_create(user=user, defaults={"mail": user.email, "confirmed_at": now})


def is_confirmed(user: User) -> bool:
    """Return whether the current address of the account is confirmed."""
    return bool(user.email) and ConfirmedMail.objects.filter(user=user, mail=user.email).exists()

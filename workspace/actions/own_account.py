"""What people change of their own account: the name that colleagues read, and where mail goes.

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
GONE = "This link is not good any more: it was used, it is older than a day, or the account has changed since."


class AccountRefused(Exception):
    """Nothing was changed; the message is a sentence for whoever asked."""


@dataclass(frozen=True)
class MailChange:
    """An account, and the address that it is to have; `before` may be empty or the same."""

    user: User
    before: str
    mail: str


def change_name(*, user: User, name: str) -> None:
    """Let colleagues read `name`, which may be empty; one signs in under the same as before. Raises AccountRefused."""
    if name and (problem := problem_with_line(name)):
        raise AccountRefused(problem)
    if len(name) > LONGEST_NAME:
        raise AccountRefused(f"Write at most {LONGEST_NAME} characters.")
    user.first_name, user.last_name = name, ""
    user.save(update_fields=["first_name", "last_name"])


def check_mail(mail: str) -> None:
    """Raise AccountRefused for what no mail can be sent to."""
    try:
        validate_email(mail)
    except ValidationError as error:
        raise AccountRefused("This is no e-mail address. Look at it again.") from error
    if len(mail) > LONGEST_MAIL:
        raise AccountRefused(f"An address has at most {LONGEST_MAIL} characters.")


def change_mail(*, user: User, mail: str) -> None:
    """Let mail go to an address that nobody has confirmed. Raises AccountRefused."""
    check_mail(mail)
    user.email = mail
    user.save(update_fields=["email"])


def link_to(user: User, mail: str) -> str:
    """Return the secret of the link that makes `mail` the address of an account.

    It ends with the day, with the address that the account has now, and with its password.
    """
    told = {"user": user.pk, "before": user.email, "mail": mail, "password": _trace_of_password(user)}
    return signing.dumps(told, salt=_SALT)


def change_of(secret: str) -> MailChange:
    """Return what a link is for. Raises AccountRefused for one that is not good (any more)."""
    try:
        told: dict[str, Any] = signing.loads(secret, salt=_SALT, max_age=LINK_FOR)
    except signing.BadSignature as error:
        raise AccountRefused(GONE) from error
    user = User.objects.filter(pk=told["user"], is_active=True, email=told["before"]).first()
    if user is None or not constant_time_compare(told["password"], _trace_of_password(user)):
        raise AccountRefused(GONE)
    return MailChange(user, told["before"], told["mail"])


def _trace_of_password(user: User) -> str:
    return salted_hmac(_SALT, user.password, algorithm="sha256").hexdigest()[:16]


@transaction.atomic
def follow_link(*, secret: str, now: datetime) -> MailChange:
    """Make the address that the link was sent to that of the account, confirmed. Raises AccountRefused."""
    change = change_of(secret)
    # Once: a link that changes the address finds another one than it was made for.
    if not User.objects.filter(pk=change.user.pk, email=change.before).update(email=change.mail):
        raise AccountRefused(GONE)
    change.user.email = change.mail
    confirm_mail(user=change.user, now=now)
    return change


def confirm_mail(*, user: User, now: datetime) -> None:
    """Note that whoever has the account reads what is sent to its address."""
    if user.email:
        ConfirmedMail.objects.update_or_create(user=user, defaults={"mail": user.email, "confirmed_at": now})


def is_confirmed(user: User) -> bool:
    """Tell whether the account's address has been confirmed as it is now."""
    return bool(user.email) and ConfirmedMail.objects.filter(user=user, mail=user.email).exists()

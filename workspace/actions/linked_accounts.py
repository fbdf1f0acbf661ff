"""Accounts of the identity provider that sign people in here: find, link and unlink.

An address links two accounts only if both sides have verified it: the provider says so, and here a link in a mail was
followed. Otherwise, whoever writes another person's address into an account would receive that person's sign-ins.
"""

from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.db.models import F, QuerySet

from workspace.actions.own_account import AccountRefused

THE_ONLY_WAY = (
    "Your account has no password, so this is the only way to sign in. Ask your administrator for a password first."
)


def find_account(mail: str, *, provider: str) -> User | None:
    """Return the only account that a verified address of the provider may open, else None.

    Never a superuser's account: superusers link theirs themselves. Never an account that is already linked to the
    provider: addresses are reassigned, and their new owner is somebody else here.
    """
    if not mail:
        return None
    confirmed = User.objects.filter(is_active=True, confirmed_mail__mail=F("email"))
    confirmed = confirmed.exclude(socialaccount__provider=provider)
    found = [user for user in confirmed.filter(email__iexact=mail) if _is_same(user.email, mail)]
    return found[0] if len(found) == 1 and not (found[0].is_staff or found[0].is_superuser) else None


def _is_same(here: str, there: str) -> bool:
    # Letters of other alphabets may have the same capitals and belong to another mailbox.
    return here == there or (here.isascii() and there.isascii() and here.lower() == there.lower())


def is_taken(mail: str) -> bool:
    """Return whether an account here has the address, confirmed or not."""
    return bool(mail) and User.objects.filter(email__iexact=mail).exists()


def linked_accounts(user: User, provider: str) -> QuerySet[SocialAccount]:
    """Return the provider's accounts that sign in as `user`."""
    found: QuerySet[SocialAccount] = SocialAccount.objects.filter(user=user, provider=provider)
    return found


def unlink(*, user: User, provider: str) -> None:
    """Unlink the provider from `user`. Raises AccountRefused if no other way to sign in would remain."""
    if not user.has_usable_password():
        raise AccountRefused(THE_ONLY_WAY)
    linked_accounts(user, provider).delete()

"""Accounts elsewhere with which people sign in here: whose they may become, and how they are disconnected.

An address connects two accounts only if both sides know that it is the person's: the provider says so, and here it was
confirmed by a link. Else whoever writes another's address into an account would have that person's sign-in lead there.
"""

from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.db.models import F, QuerySet

from workspace.actions.own_account import AccountRefused

THE_ONLY_WAY = "Your account has no password, so this is the only way in. Ask whoever runs the site for one first."


def account_with_mail(mail: str, *, provider: str) -> User | None:
    """Return whose account a provider's verified address opens; None where there is none, or more than one.

    Never that of an operator, who may everything: they connect theirs by hand. Nor one that an account of the provider
    opens already: addresses are given to others, and whoever has this one now is somebody else there.
    """
    if not mail:
        return None
    confirmed = User.objects.filter(is_active=True, confirmed_mail__mail=F("email"))
    confirmed = confirmed.exclude(socialaccount__provider=provider)
    found = [user for user in confirmed.filter(email__iexact=mail) if _is_same(user.email, mail)]
    return found[0] if len(found) == 1 and not (found[0].is_staff or found[0].is_superuser) else None


def _is_same(here: str, there: str) -> bool:
    # Letters of other alphabets may become the same letter in capitals, and are another mailbox.
    return here == there or (here.isascii() and there.isascii() and here.lower() == there.lower())


def is_taken(mail: str) -> bool:
    """Tell whether an account here has the address, confirmed or not."""
    return bool(mail) and User.objects.filter(email__iexact=mail).exists()


def linked_to(user: User, provider: str) -> QuerySet[SocialAccount]:
    """Return the accounts of a provider that open `user`'s."""
    found: QuerySet[SocialAccount] = SocialAccount.objects.filter(user=user, provider=provider)
    return found


def disconnect(*, user: User, provider: str) -> None:
    """Let `user` no longer sign in with the provider. Raises AccountRefused where there would be no way in."""
    if not user.has_usable_password():
        raise AccountRefused(THE_ONLY_WAY)
    linked_to(user, provider).delete()

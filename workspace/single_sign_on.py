"""Single sign-on by OpenID Connect through django-allauth (docs/decisions/0047).

allauth speaks with the provider; this module decides who may sign in, and as whom.
"""

import hashlib
import logging
import secrets
from collections.abc import Mapping
from typing import Any, NoReturn

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthError, AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from results.views.guards import signed_in_user
from studies.actions.projects.membership import invitation_of, join
from studies.errors import StudyError
from workspace.actions.linked_accounts import find_account, is_taken, linked_accounts
from workspace.actions.own_account import confirm_mail
from workspace.mail import send_account_linked

logger = logging.getLogger(__name__)

NOBODY = (
    "You have no account here. Follow an invitation to create one. If you have one with a "
    "password, sign in with it and connect the two on the page of your account."
)
UNCONFIRMED = (
    "An account here has your address, but nobody has confirmed that it is theirs. Sign in with its password, and "
    "connect the two on the page of your account."
)
INACTIVE = "Your account here was deactivated. Ask your administrator."
CANCELLED = "You went back without signing in."
FAILED = "Signing in did not work. Try again; if it fails again, tell your administrator."
CONNECTED = "Account connected. You can now sign in with it."
CONNECTED_ALREADY = "Your account is already connected. To connect another one, disconnect it first."
SOMEBODY_ELSES = "That account is already connected to another account here, so nothing was changed."


def is_offered() -> bool:
    return bool(settings.OIDC_ISSUER)


def name_of_provider() -> str:
    """Return the provider's display name; empty if none is configured."""
    return settings.OIDC_NAME if is_offered() else ""


def provider_id() -> str:
    """Return the key that stores accounts of the provider: another provider, configured later, must not match them."""
    return f"oidc-{hashlib.sha256(settings.OIDC_ISSUER.encode()).hexdigest()[:16]}"


class SignOnClient(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """OpenID Connect client of the provider."""

    @property
    def openid_config(self) -> Mapping[str, Any]:
        config: Mapping[str, Any] = super().openid_config
        if str(config.get("issuer", "")).rstrip("/") != settings.OIDC_ISSUER:
            raise OAuth2Error("The provider reports a different issuer.")
        return config

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        # Built from the site's address, not from the Host header.
        return f"{settings.SITE_URL}{reverse('sign_on_back')}"


class SignOnProvider(OpenIDConnectProvider):  # type: ignore[misc]
    """The site's only provider."""

    oauth2_adapter_class = SignOnClient

    def begin(self, request: HttpRequest, *, process: str, next_url: str | None) -> HttpResponse:
        """Return the redirect to the provider."""
        nonce = secrets.token_urlsafe(16)
        response: HttpResponse = self.redirect(
            request, process, next_url, data={"nonce": nonce}, auth_params={"nonce": nonce}
        )
        return response

    def sociallogin_from_response(self, request: HttpRequest, response: Mapping[str, Any]) -> SocialLogin:
        """Return who has signed in. Raises OAuth2Error unless all claims are about one person."""
        proof, more = response.get("id_token") or {}, response.get("userinfo") or {}
        if not proof.get("sub") or (more and more.get("sub") != proof["sub"]):
            raise OAuth2Error("The provider sent no user id, or two different ones.")
        login = super().sociallogin_from_response(request, response)
        told = more or proof
        # Some providers send a text, and "false" is true for Python.
        is_verified = told.get("email_verified") in (True, "true")
        login.verified_mail = login.user.email if is_verified else ""
        login.user.email = login.verified_mail
        login.nonce = str(proof.get("nonce", ""))
        # Store confirmed addresses in our own table only.
        login.email_addresses = []
        return login

    def extract_extra_data(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Store only the subject of the provider's claims."""
        return {}


def provider_for(request: HttpRequest) -> SignOnProvider:
    return SignOnProvider(request, app=_app())


def _app() -> SocialApp:
    return SocialApp(
        provider=SignOnProvider.id,
        provider_id=provider_id(),
        name=settings.OIDC_NAME,
        client_id=settings.OIDC_CLIENT_ID,
        secret=settings.OIDC_CLIENT_SECRET,
        settings={"server_url": settings.OIDC_ISSUER, "oauth_pkce_enabled": True},
    )


class SignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Decide who may sign in with an account of the provider (allauth's `SOCIALACCOUNT_ADAPTER`)."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """Return the provider of the settings; rows created in the admin are ignored."""
        return [_app()] if is_offered() and provider in {None, provider_id(), SignOnProvider.id} else []

    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> SignOnProvider:
        return SignOnProvider(request, app=self.get_app(request, provider=provider))

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: SignOnProvider,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: Mapping[str, Any] | None = None,
    ) -> None:
        if error == AuthError.CANCELLED:
            _refuse(request, CANCELLED)
        # The message may contain tokens of the provider, so only the error's type is logged.
        cause = exception.__cause__ if exception is not None else None
        logger.warning("sign-in with the provider failed (%s): %r after %r", error, type(exception), type(cause))
        _refuse(request, FAILED)

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Link a new account of the provider to the user here who has confirmed the same address."""
        asked = (sociallogin.state.get("data") or {}).get("nonce", "")
        if not asked or not constant_time_compare(sociallogin.nonce, asked):
            _refuse(request, FAILED)
        if sociallogin.is_existing:
            return
        if sociallogin.state.get("process") == AuthProcess.CONNECT:
            owner = signed_in_user(request)
            # Check again: another window may have linked it in the meantime.
            if linked_accounts(owner, provider_id()).exists():
                _refuse(request, CONNECTED_ALREADY)
            send_account_linked(owner)
            return
        if (user := find_account(sociallogin.verified_mail, provider=provider_id())) is not None:
            sociallogin.connect(request, user)
            send_account_linked(user)

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Allow a new account to people with an invitation, or to everybody if the site allows it."""
        if is_taken(sociallogin.verified_mail):
            _refuse(request, UNCONFIRMED)
        if not settings.OIDC_SIGN_UP and not _invitation(sociallogin):
            _refuse(request, NOBODY)
        return True

    def is_auto_signup_allowed(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Skip allauth's signup form."""
        return True

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: Any = None) -> User:
        """Create the account and its membership of the invitation, both or neither."""
        secret, now = _invitation(sociallogin), timezone.now()
        try:
            with transaction.atomic():
                user: User = super().save_user(request, sociallogin, form)
                confirm_mail(user=user, now=now)
                if secret:
                    project = join(secret=secret, by=user, now=now)
                    sociallogin.state["next"] = reverse("project", args=[project.slug])
        except StudyError as error:
            _refuse(request, str(error))
        if secret:
            messages.success(request, f"You are a member of {project.name} now.")
        return user

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        return reverse("account")


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Account behaviour of allauth on this site (its `ACCOUNT_ADAPTER`)."""

    def respond_user_inactive(self, request: HttpRequest, user: User) -> NoReturn:
        _refuse(request, INACTIVE)

    def add_message(
        self, request: HttpRequest, level: int, message_template: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        """Replace allauth's messages by those of the site."""
        said = (message_template or "").rpartition("/")[2]
        if said == "account_connected_other.txt":
            messages.error(request, SOMEBODY_ELSES)
        elif said.startswith("account_connected"):
            messages.success(request, CONNECTED)


def _invitation(sociallogin: SocialLogin) -> str:
    """Return the secret of a usable invitation whose page the user came from, else ""."""
    try:
        match = resolve(sociallogin.state.get("next") or "/")
        secret: str = match.kwargs["secret"] if match.url_name == "invitation" else ""
        return secret if secret and invitation_of(secret, timezone.now()) else ""
    except (Resolver404, StudyError):
        return ""


def _refuse(request: HttpRequest, sentence: str) -> NoReturn:
    messages.error(request, sentence)
    raise ImmediateHttpResponse(redirect("account" if request.user.is_authenticated else "sign_in"))

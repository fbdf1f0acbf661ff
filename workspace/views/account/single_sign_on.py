"""Single sign-on: redirect to the provider, return, link and unlink accounts."""

import logging

from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe
from requests import RequestException

from results.views.guards import signed_in_user
from throttle.networks import network_of
from workspace.actions import sign_in as attempts
from workspace.actions.linked_accounts import linked_accounts
from workspace.actions.linked_accounts import unlink as disconnect_account
from workspace.actions.own_account import AccountRefused
from workspace.single_sign_on import CONNECTED_ALREADY, FAILED, SignOnClient, is_offered, provider_for, provider_id
from workspace.views.account.profile import account_page, check_password

logger = logging.getLogger(__name__)


@never_cache
@require_POST
def begin(request: HttpRequest) -> HttpResponse:
    """Redirect to the provider, and afterwards to the page that the user wanted."""
    wanted = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return _to_provider(request, process=AuthProcess.LOGIN, next_url=wanted if is_ours else None)


@never_cache
@login_required
@require_POST
@sensitive_post_parameters()
def connect(request: HttpRequest) -> HttpResponse:
    """Redirect to the identity provider to link an account. Requires the password of the account here."""
    _check_offered()
    user = signed_in_user(request)
    try:
        # First of all: an account without a password is already linked, and no second link is allowed.
        if linked_accounts(user, provider_id()).exists():
            raise AccountRefused(CONNECTED_ALREADY)
        check_password(request, user)
    except AccountRefused as error:
        return account_page(request, status=409, connect_problem=str(error))
    return _to_provider(request, process=AuthProcess.CONNECT, next_url=None)


def _to_provider(request: HttpRequest, *, process: str, next_url: str | None) -> HttpResponse:
    """Answer with a page that goes on to the provider by itself.

    A redirect would count as part of the form, and the content security policy forbids forms to other sites; a provider
    may also redirect further.
    """
    _check_offered()
    verdict = attempts.begin_single_sign_on(network_of(request), now=timezone.now())
    if not verdict.allowed:
        context = {"minutes": verdict.minutes}
        response = render(request, "registration/sign_on.html", context, status=429)
        response["Retry-After"] = str(verdict.retry_after)
        return response
    try:
        address = provider_for(request).begin(request, process=process, next_url=next_url)["Location"]
    except (RequestException, OAuth2Error, ValueError, KeyError):
        logger.exception("the provider that people sign in with cannot be used")
        messages.error(request, FAILED)
        return redirect("account" if request.user.is_authenticated else "sign_in")
    return render(request, "registration/sign_on.html", {"address": address})


def _check_offered() -> None:
    if not is_offered():
        raise Http404


@never_cache
@require_safe
def sign_in_from_provider(request: HttpRequest) -> HttpResponse:
    """Sign in the user who returns from the provider."""
    _check_offered()
    was = request.user.pk
    view = OAuth2CallbackView.adapter_view(SignOnClient(request, provider_id()))
    try:
        response: HttpResponse = view(request)
    except (RequestException, OAuth2Error, ValueError, KeyError):
        logger.exception("what the provider tells cannot be used")
        messages.error(request, FAILED)
        return redirect("sign_in")
    if request.user.is_authenticated and request.user.pk != was:
        attempts.succeed_single_sign_on(network_of(request))
    return response


@never_cache
@login_required
@require_POST
def disconnect(request: HttpRequest) -> HttpResponse:
    _check_offered()
    try:
        disconnect_account(user=signed_in_user(request), provider=provider_id())
    except AccountRefused as error:
        return account_page(request, status=409, connect_problem=str(error))
    messages.success(request, "Disconnected: you sign in with your password.")
    return redirect("account")

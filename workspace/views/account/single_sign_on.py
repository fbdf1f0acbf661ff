"""Signing in with an account elsewhere: on the way there, back from there, connected and disconnected."""

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

from results.views.guards import signed_in
from throttle.networks import network_of
from workspace.actions import sign_in as attempts
from workspace.actions.linked_accounts import disconnect as disconnect_account
from workspace.actions.linked_accounts import linked_to
from workspace.actions.own_account import AccountRefused
from workspace.single_sign_on import CONNECTED_ALREADY, FAILED, SignOnClient, is_offered, provider_for, provider_id
from workspace.views.account.profile import account_page, check_password

logger = logging.getLogger(__name__)


@never_cache
@require_POST
def begin(request: HttpRequest) -> HttpResponse:
    """Lead to the provider, from where one comes back to what one wanted to see."""
    wanted = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return _to_provider(request, process=AuthProcess.LOGIN, next_url=wanted if is_ours else None)


@never_cache
@login_required
@require_POST
@sensitive_post_parameters()
def connect(request: HttpRequest) -> HttpResponse:
    """Lead to the provider, to sign in with the account there from then on. It takes the password of the one here."""
    _check_offered()
    user = signed_in(request)
    try:
        # Before anything else: an account without a password has a provider's, and no second one gets in beside it.
        if linked_to(user, provider_id()).exists():
            raise AccountRefused(CONNECTED_ALREADY)
        check_password(request, user)
    except AccountRefused as error:
        return account_page(request, status=409, connect_problem=str(error))
    return _to_provider(request, process=AuthProcess.CONNECT, next_url=None)


def _to_provider(request: HttpRequest, *, process: str, next_url: str | None) -> HttpResponse:
    """Answer with a page that leads on. A redirect would be part of sending the form, which the site's policy allows to
    no other site, and a provider may lead on to others."""
    _check_offered()
    verdict = attempts.begin_elsewhere(network_of(request), now=timezone.now())
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
def back(request: HttpRequest) -> HttpResponse:
    """Take who comes back from the provider."""
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
        attempts.succeed_elsewhere(network_of(request))
    return response


@never_cache
@login_required
@require_POST
def disconnect(request: HttpRequest) -> HttpResponse:
    _check_offered()
    try:
        disconnect_account(user=signed_in(request), provider=provider_id())
    except AccountRefused as error:
        return account_page(request, status=409, connect_problem=str(error))
    messages.success(request, "Disconnected: you sign in with your password.")
    return redirect("account")

"""The user's own account: display name, mail address, signed-in browsers."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from results.views.guards import signed_in_user
from throttle.counters import Verdict
from throttle.networks import network_of
from workspace.actions import own_account
from workspace.actions import sign_in as attempts
from workspace.actions.browser_sessions import end_session as end
from workspace.actions.browser_sessions import end_sessions, open_sessions
from workspace.actions.linked_accounts import linked_accounts
from workspace.actions.own_account import AccountRefused
from workspace.mail import can_send, send_address_changed, send_mail_link
from workspace.models import BrowserSession
from workspace.single_sign_on import is_offered, name_of_provider, provider_id

GONE = 410
NO_WAY = "Your account has no password, and this site sends no mail: ask your administrator to change the address."
WRONG = "This is not your password. Type it again."
NOT_TAKEN = "The mail could not be sent. Try again later; nothing has changed so far."


class TooManyAttempts(AccountRefused):
    """Too many attempts."""

    def __init__(self, verdict: Verdict) -> None:
        plural = "" if verdict.minutes == 1 else "s"
        super().__init__(f"There were too many attempts. Wait {verdict.minutes} minute{plural}, then try again.")


def account_page(request: HttpRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    user, now = signed_in_user(request), timezone.now()
    context = {
        "given": {"name": user.get_full_name(), "mail": user.email},
        "sessions": open_sessions(user=user, now=now),
        "here": request.session.session_key,
        "mail_is_confirmed": own_account.is_confirmed(user),
        "can_send": can_send(),
        "elsewhere": name_of_provider(),
        "is_linked": is_offered() and linked_accounts(user, provider_id()).exists(),
    }
    return render(request, "workspace/account/page.html", context | more, status=status)


@never_cache
@login_required
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    return account_page(request)


@never_cache
@login_required
@require_POST
def change_name(request: HttpRequest) -> HttpResponse:
    user, name = signed_in_user(request), request.POST.get("name", "").strip()
    try:
        own_account.change_name(user=user, name=name)
    except AccountRefused as error:
        return account_page(request, status=409, name_problem=str(error), given={"name": name, "mail": user.email})
    messages.success(request, f"Colleagues now see {name or user.get_username()}.")
    return redirect("account")


@never_cache
@login_required
@require_POST
@sensitive_post_parameters()
def change_mail(request: HttpRequest) -> HttpResponse:
    """Send a link to the new address; on a site without mail, change it after a password check."""
    user, mail = signed_in_user(request), request.POST.get("mail", "").strip()
    try:
        own_account.check_mail(mail)
        check_password(request, user)
        if can_send():
            _send_link(request, user, mail)
            messages.success(request, f"A link was sent to {mail}. Follow it to confirm the address.")
        else:
            own_account.change_mail(user=user, mail=mail)
            messages.success(request, f"Your address is {mail}.")
    except AccountRefused as error:
        given = {"name": user.get_full_name(), "mail": mail}
        status = 429 if isinstance(error, TooManyAttempts) else 409
        return account_page(request, status=status, mail_problem=str(error), given=given)
    return redirect("account")


@sensitive_variables()
def check_password(request: HttpRequest, user: User) -> None:
    """Check the password, so that whoever finds an open browser cannot take over the account."""
    if not user.has_usable_password():
        if not can_send():
            raise AccountRefused(NO_WAY)
        return
    attempt = attempts.Attempt(name=user.get_username(), network=network_of(request), device="")
    if not (verdict := attempts.begin(attempt, now=timezone.now())).allowed:
        raise TooManyAttempts(verdict)
    if not user.check_password(request.POST.get("password", "")):
        raise AccountRefused(WRONG)
    attempts.succeed(attempt)


def _send_link(request: HttpRequest, user: User, mail: str) -> None:
    if not (verdict := attempts.may_send_reset_mail(network_of(request), mail, now=timezone.now())).allowed:
        raise TooManyAttempts(verdict)
    link = f"{settings.SITE_URL}{reverse('account_mail_link', args=[own_account.make_link_secret(user, mail)])}"
    if not send_mail_link(user, link, to=mail):
        raise AccountRefused(NOT_TAKEN)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def complete_mail_change(request: HttpRequest, secret: str) -> HttpResponse:
    """Show what the link is for; POST does it. Mail scanners follow links, and must not change anything."""
    try:
        change = own_account.read_link(secret)
        if request.method != "POST":
            return render(request, "workspace/account/mail_link.html", {"change": change})
        if request.user != change.user:
            # Otherwise a link requested by somebody else would set this user's address on that person's account.
            messages.error(request, f"Sign in as {change.user.get_username()} first, then confirm it.")
            return redirect_to_login(request.get_full_path())
        change = own_account.complete_mail_change(secret=secret, now=timezone.now())
    except AccountRefused as error:
        return render(request, "workspace/account/mail_link.html", {"problem": str(error)}, status=GONE)
    if change.before and change.before != change.mail:
        send_address_changed(change.user, to=change.before)
    messages.success(request, f"Mail for {change.user.get_username()} goes to {change.mail}.")
    return redirect("account")


@never_cache
@login_required
@require_POST
def end_session(request: HttpRequest, pk: int) -> HttpResponse:
    session = get_object_or_404(BrowserSession.objects.filter(user=signed_in_user(request)), pk=pk)
    end(session=session)
    if session.session_key != request.session.session_key:
        messages.success(request, f"{session.browser} was signed out.")
    return redirect("account")


@never_cache
@login_required
@require_POST
def end_other_sessions(request: HttpRequest) -> HttpResponse:
    count = end_sessions(user=signed_in_user(request), but=request.session.session_key or "")
    messages.success(request, f"{count} other browser{' was' if count == 1 else 's were'} signed out.")
    return redirect("account")

"""The only sign-in page, for researchers and operators; Django's admin redirects here."""

import secrets
from typing import Any

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.contrib.auth.views import LoginView, PasswordChangeView, redirect_to_login
from django.contrib.messages.views import SuccessMessageMixin
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.crypto import salted_hmac

from throttle.counters import Verdict
from throttle.networks import network_of
from workspace.actions import browser_sessions
from workspace.actions import sign_in as attempts
from workspace.mail import can_send
from workspace.single_sign_on import name_of_provider

DEVICE_SECONDS = 365 * 86400


class SignInForm(AuthenticationForm):
    """Count the attempt before Django checks the password, under the name that Django looks up."""

    request: HttpRequest
    refused: Verdict | None = None

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("username")
        if name is None or not self.cleaned_data.get("password"):
            return super().clean()
        device = _known_device(self.request, name)
        attempt = attempts.Attempt(name=name, network=network_of(self.request), device=device)
        verdict = attempts.begin(attempt, now=timezone.now())
        if not verdict.allowed:
            self.refused = verdict
            raise ValidationError("Too many attempts.", code="too_many")
        cleaned = super().clean()
        attempts.succeed(attempt)
        return cleaned


class SignIn(LoginView):
    template_name = "registration/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True
    extra_context = {"can_send": can_send, "elsewhere": name_of_provider}  # noqa: RUF012 (Django's own way)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_valid(form)
        _remember_device(self.request, response, form.cleaned_data["username"])
        return response

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        if not isinstance(form, SignInForm) or form.refused is None:
            return super().form_invalid(form)
        context = self.get_context_data(form=form, minutes=form.refused.minutes)
        return self.render_to_response(context, status=429, headers={"Retry-After": str(form.refused.retry_after)})


def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Redirect people without permission, and the admin's own sign-in page, to the site's sign-in page."""
    if request.user.is_authenticated and not request.user.is_staff:
        return render(request, "403.html", status=403)
    return redirect_to_login(request.GET.get("next") or reverse("admin:index"))


def _known_device(request: HttpRequest, name: str) -> str:
    """Return the id of a browser that signed in under this name before; strangers' attempts do not count for it."""
    return request.get_signed_cookie(_device_cookie(name), default="", max_age=DEVICE_SECONDS) or ""


def _remember_device(request: HttpRequest, response: HttpResponse, name: str) -> None:
    response.set_signed_cookie(
        _device_cookie(name),
        _known_device(request, name) or secrets.token_urlsafe(16),
        max_age=DEVICE_SECONDS,
        path=reverse("sign_in"),
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


def _device_cookie(name: str) -> str:
    # The signature covers the cookie's name, so a cookie is valid only for the name that it was set for.
    return f"known-{salted_hmac('results.sign_in', name, algorithm='sha256').hexdigest()[:24]}"


class ChangePassword(SuccessMessageMixin, PasswordChangeView):  # type: ignore[type-arg]
    template_name = "registration/change_password.html"
    success_url = reverse_lazy("account")
    success_message = "Your password was changed. All your other browsers were signed out."

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        before = self.request.session.session_key or ""
        response = super().form_valid(form)
        here = self.request.session.session_key or ""
        browser_sessions.replace_session_key(before=before, after=here)
        browser_sessions.end_sessions(user=form.user, but=here)
        return response

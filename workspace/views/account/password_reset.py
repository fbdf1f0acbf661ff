"""Reset a forgotten password with a link by mail, if the site can send mail."""

from typing import Any

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordResetConfirmView, PasswordResetView
from django.contrib.messages.views import SuccessMessageMixin
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.generic import TemplateView

from throttle.networks import network_of
from workspace.actions.browser_sessions import end_sessions
from workspace.actions.own_account import confirm_mail
from workspace.actions.sign_in import may_send_reset_mail
from workspace.mail import can_send


class RequestReset(PasswordResetView):
    """Mail the link; the page is the same for known and unknown addresses."""

    template_name = "registration/forgotten.html"
    email_template_name = "registration/forgotten_mail.txt"
    subject_template_name = "registration/forgotten_subject.txt"
    success_url = reverse_lazy("forgotten_sent")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not can_send():
            return redirect("sign_in")
        self.from_email = settings.MAIL_FROM
        self.extra_email_context = {"site": settings.SITE_URL}
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: PasswordResetForm) -> HttpResponse:
        network, mail = network_of(self.request), form.cleaned_data["email"]
        verdict = may_send_reset_mail(network, mail, now=timezone.now())
        if verdict.allowed:
            return super().form_valid(form)
        context = self.get_context_data(form=form, minutes=verdict.minutes)
        headers = {"Retry-After": str(verdict.retry_after)}
        return self.render_to_response(context, status=429, headers=headers)


class LinkSent(TemplateView):
    template_name = "registration/forgotten_sent.html"


class ChoosePassword(SuccessMessageMixin, PasswordResetConfirmView):  # type: ignore[type-arg]
    template_name = "registration/choose_another.html"
    success_url = reverse_lazy("sign_in")
    success_message = "Your password was changed. Sign in with the new one."

    def form_valid(self, form: "SetPasswordForm[User]") -> HttpResponse:
        response = super().form_valid(form)
        end_sessions(user=form.user)
        # The link went to the account's current address: after a change it is invalid.
        confirm_mail(user=form.user, now=timezone.now())
        return response

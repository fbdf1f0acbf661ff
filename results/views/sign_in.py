from django.contrib.auth.views import LoginView, PasswordChangeView
from django.contrib.messages.views import SuccessMessageMixin
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse_lazy
from django.utils import timezone

from results.actions import sign_in as attempts

TEMPLATE = "registration/sign_in.html"
_login = LoginView.as_view(template_name=TEMPLATE, redirect_authenticated_user=True)


def sign_in(request: HttpRequest) -> HttpResponseBase:
    if request.method != "POST":
        return _login(request)
    name, now = request.POST.get("username", ""), timezone.now()
    if attempts.is_locked(name=name, now=now):
        return render(request, TEMPLATE, {"too_many": True, "next": request.POST.get("next", "")}, status=429)
    response = _login(request)
    if request.user.is_authenticated:
        attempts.forget_failures(name=name)
    else:
        attempts.note_failure(name=name, now=now)
    return response


class ChangePassword(SuccessMessageMixin, PasswordChangeView):  # type: ignore[type-arg]
    template_name = "registration/change_password.html"
    success_url = reverse_lazy("home")
    success_message = "Your password is changed."

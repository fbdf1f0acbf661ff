"""Invitation links: join a project with an existing or a new account."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from results.views.guards import signed_in_user
from studies.actions.projects.membership import invitation_of, join
from studies.errors import StudyError
from studies.models import Project
from studies.permissions import Role, with_article
from workspace.actions.accounts import sign_up
from workspace.single_sign_on import name_of_provider

GONE = 410


class AccountForm(UserCreationForm[User]):
    """A new account: username, display name, mail address, password twice."""

    class Meta:
        model = User
        fields = ("username", "first_name", "email")
        labels = {  # noqa: RUF012 (Django reads it from the class)
            "username": "Name to sign in with",
            "first_name": "Your name, as shown to colleagues",
            "email": "E-mail, for a forgotten password",
        }
        help_texts = {"username": "Letters, digits and @ . + - _ only."}  # noqa: RUF012
        widgets = {  # noqa: RUF012
            "first_name": forms.TextInput(attrs={"autocomplete": "name"}),
            "email": forms.EmailInput(attrs={"autocomplete": "email"}),
        }


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, secret: str) -> HttpResponse:
    """Show what the link is for; POST joins the project."""
    try:
        found = invitation_of(secret, timezone.now())
    except StudyError as error:
        return render(request, "workspace/members/no_invitation.html", {"problem": str(error)}, status=GONE)
    context: dict[str, Any] = {"invitation": found, "role": with_article(Role(found.role))}
    context["elsewhere"] = name_of_provider()
    if not request.user.is_authenticated:
        form = AccountForm(request.POST if request.method == "POST" else None)
        if request.method != "POST" or not form.is_valid():
            status = 409 if form.errors else 200
            return render(request, "workspace/members/sign_up.html", context | {"form": form}, status=status)
        return _sign_up(request, secret, form)
    if request.method == "POST":
        try:
            return _welcome(request, join(secret=secret, by=signed_in_user(request), now=timezone.now()))
        except StudyError as error:
            context["problems"] = error.problems
    return render(request, "workspace/members/join.html", context, status=409 if "problems" in context else 200)


def _sign_up(request: HttpRequest, secret: str, form: AccountForm) -> HttpResponse:
    account = form.save(commit=False)
    try:
        project = sign_up(secret=secret, account=account, now=timezone.now())
    except StudyError as error:
        return render(request, "workspace/members/no_invitation.html", {"problem": str(error)}, status=GONE)
    login(request, account)
    return _welcome(request, project)


def _welcome(request: HttpRequest, project: Project) -> HttpResponse:
    messages.success(request, f"You are a member of {project.name} now.")
    return redirect("project", project.slug)
